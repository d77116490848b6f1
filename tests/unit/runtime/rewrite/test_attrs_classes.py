"""Classes of `attrs`, where it is installed: what their generated methods read is seen."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.report.answer import VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.testing.decorator import make_test

attr = pytest.importorskip("attr")

SOURCE = """
import threading
import attr

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

@attr.s(order=True, hash=True)
class Plain:
    x = attr.ib(default=0)
    y = attr.ib(default=0)

@attr.define(order=True, unsafe_hash=True)
class Slots:
    x: int = 0
    y: int = 0

def local():
    @attr.define(order=True, unsafe_hash=True)
    class Local:
        x: int = 0
        y: int = 0
    return Local

def program():
    kind = {kind}
    box, got = kind(), []
    def change():
        box.x = 1
    together(change, lambda: got.append({read}))
    assert got == [{expected}]
"""
READS = {
    "equal": ("box == kind(1)", "True"),
    "less": ("box < kind(1)", "False"),
    "shown": ("'x=1' in repr(box)", "True"),
    "hashed": ("hash(box) == hash(kind(1))", "True"),
}


@pytest.mark.parametrize("kind", ["Plain", "Slots", "local()"])
@pytest.mark.parametrize("name", READS)
def test_generated_methods(tmp_path: Path, kind: str, name: str) -> None:
    read, expected = READS[name]
    source = SOURCE
    for mark, text in (("{kind}", kind), ("{read}", read), ("{expected}", expected)):
        source = source.replace(mark, text)
    module = module_of(tmp_path, textwrap.dedent(source))
    before = [vars(module.Plain)["__lt__"], module.Plain.__eq__.__code__]
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=1))
    assert result.verdict == VIOLATED, result.report()
    assert [vars(module.Plain)["__lt__"], module.Plain.__eq__.__code__] == before
