"""Which locks are surely kept by their holders, and which a step surely needs."""

from __future__ import annotations

import textwrap

import pytest

from mazurka.analysis.futures import find_needed_locks, find_pattern_locks
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Kind, Program
from mazurka.ir.values.footprints import Footprints

PRELUDE = """\
import threading
from mazurka.model import *
m = threading.Lock()
n = Mutex()
r = threading.RLock()
locks = [Mutex() for _ in range(2)]
c = threading.Condition(n)
x: Int[0, 3] = 0
i: Int[0, 1] = 0
def other():
    global i
    i = 1 - i
    m.acquire()
"""


def model(body: str) -> Program:
    source = f"{PRELUDE}def f():\n    global x\n{textwrap.indent(body, '    ')}\n"
    return prepare(elaborate(source + "threads = [f(), other()]\n", "model.py"))


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("with m:\n    x = 1", True),
        ("if m.acquire(blocking=False):\n    m.release()", False),
        ("m.release()", False),
        ("m.acquire()\nx = 1\nm.release()", True),
        ("if i == 0:\n    m.acquire()\nm.release()", False),
    ],
)
def test_lock_that_only_its_holder_releases(body: str, kept: bool) -> None:
    """A lock is kept if each release is shown to be its holder's; a Mutex checks that itself."""
    program = model(body)
    names = {program.cells[lock].name for lock in find_pattern_locks(program)}
    assert ("m" in names) == kept
    assert "n" in names


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ("m.acquire()", {"m"}),
        ("n.acquire()", {"n"}),
        ("r.acquire()", {"r"}),
        ("x = 1", set()),
        ("locks[1].acquire()", {"locks[1]"}),
        ("k = i\nlocks[k].acquire()", set()),
        ("m.acquire(blocking=False)", {"m"}),
        ("assert not m.locked()", set()),
    ],
)
def test_locks_that_edges_need(body: str, needed: set[str]) -> None:
    program = model(body)
    footprints = Footprints(program)
    found = [find_needed_locks(footprints, edge, 0) for edge in program.threads[0].edges]
    assert {program.cells[lock].name for locks in found for lock in locks} == needed


def test_trying_in_vain_needs_nothing() -> None:
    program = model("m.acquire(blocking=False)")
    footprints = Footprints(program)
    tries = [edge for edge in program.threads[0].edges if edge.kind is Kind.TRY_ACQUIRE]
    assert sorted(len(find_needed_locks(footprints, edge, 0)) for edge in tries) == [0, 1]


def test_waking_needs_the_lock_of_the_condition() -> None:
    program = model("with n:\n    c.wait()\n    x = 1")
    footprints = Footprints(program)
    lock = next(a for a, cell in enumerate(program.cells) if cell.name == "n")
    by_kind = {
        str(edge.kind): find_needed_locks(footprints, edge, 0) for edge in program.threads[0].edges
    }
    assert by_kind["acquire"] == by_kind["wake"] == {lock}
    assert not by_kind["wait"]
