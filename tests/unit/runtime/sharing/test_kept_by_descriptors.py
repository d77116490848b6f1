"""Descriptors of C code that keep what they compute in a container of their object."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka

SOURCE = """
import threading
from tests.unit.runtime.sharing.types_of_c import make_keeping_descriptor

class Address:
    def __init__(self):
        self.cache = {}
address = Address()
Address.host = make_keeping_descriptor(address.cache)

def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def read():
    assert address.host is address

def test_threads():
    run(read, read)

def test_alone():
    read()

def test_order(expected):
    found = []
    run(read, lambda: found.append(len(address.cache)))
    assert found == [expected]
"""


@pytest.mark.parametrize("test", ["test_threads", "test_alone"])
def test_the_container_is_put_back(test: str, tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE)
    result = mazurka.explore(getattr(module, test), preemptions=2)
    assert result.verdict == "holds", result
    assert not module.address.cache


@pytest.mark.parametrize("expected", [0, 1])
def test_an_access_to_the_container_is_seen(expected: int, tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE)

    def test() -> None:
        module.test_order(expected)

    test.__module__ = module.__name__
    assert mazurka.explore(test, preemptions=2).verdict == "violated"
