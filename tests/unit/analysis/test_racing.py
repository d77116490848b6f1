"""Which cells are under suspicion, and what searches of marked programs make of it."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, equals, load, put

from mazurka.analysis.racing import find_racing_cells
from mazurka.errors import UnsupportedError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import ZERO, Binary
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.race_marks.program import mark_races
from mazurka.ir.program import FINISHED, Kind, Mode, Program
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy

MODEL = """\
import threading
from mazurka.model import *
x: Int[0, 2] = 0
m = threading.Lock()
def first():
    {one}
def second():
    {other}
threads = [first(), second()]
"""
LOCKED = "global x; m.acquire(); x = 1; m.release()"


def model(one: str, other: str) -> Program:
    return prepare(elaborate(MODEL.format(one=one, other=other), "model.py"))


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        (LOCKED, LOCKED, []),
        (LOCKED, "seen = x", ["x"]),
        ("seen = x", "seen = x", []),
        ("global x; x = 1", "pass", []),
    ],
    ids=["a lock", "a read without it", "nobody writes", "one thread alone"],
)
def test_only_what_may_race_is_suspected(one: str, other: str, names: list[str]) -> None:
    program = model(one, other)
    assert [program.cells[each].name for each in find_racing_cells(program)] == names


def test_a_plain_step_that_takes_the_lock_is_suspected() -> None:
    """Two such steps can both be possible while the lock is free, and race."""
    builder = Builder()
    bodies = [builder.thread(), builder.thread()]
    x, lock = builder.shared("x", 0, 1), builder.lock()
    for body in bodies:
        here, inside, after = body.at(), body.at(Mode.ATOMIC), body.at()
        free = equals(lock, 0)
        body.edge(here, inside, put(x, 1), kind=Kind.ACCESS)
        body.edge(inside, after, put(lock, body.number + 1), kind=Kind.ACQUIRE, guard=free)
        body.edge(after, FINISHED, put(lock, 0), kind=Kind.RELEASE)
    program = builder.program()
    assert find_racing_cells(program) == {x}


def test_a_step_that_reads_what_it_has_written_is_refused() -> None:
    builder = Builder()
    body, other = builder.thread(), builder.thread()
    x = builder.shared("x", 0, 1)
    here, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(here, inside, put(x, 1), kind=Kind.ACCESS)
    body.edge(inside, FINISHED, guard=Binary("ne", load(x), ZERO), kind=Kind.ASSUME)
    other.line(put(x, 0))
    with pytest.raises(UnsupportedError, match="reads what it has written; its races are looked"):
        mark_races(builder.program(), frozenset({x}))


def test_what_else_is_asked_is_looked_for_first() -> None:
    program = model("global x; x = 1", "seen = x")
    options = SearchOptions(properties=frozenset({"deadlock", "race"}))
    result = load_strategy("cartesian").run(program, options, Silent())
    assert result.violation is not None
    assert result.violation.kind == "race"
    assert [each.reason for each in result.rounds] == ["all but races was looked for first"]
