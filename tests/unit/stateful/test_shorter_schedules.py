"""Looking for the same violation in fewer words."""

from __future__ import annotations

import pytest
from searching import search, shows
from tests.unit.ir.programs import Builder, load, plus, put

from mazurka.ir.expressions import Binary, Const
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.program import FINISHED, Check, Fault, Kind, Program
from mazurka.search import Move, SearchOptions, Silent, Violation
from mazurka.stateful.searches.minimize import fewest_steps, fewest_switches

STEPS = 3_000


def count_to_a_failure() -> Program:
    """A counter that climbs to `STEPS`, and then fails."""
    builder = Builder()
    cell = builder.shared("c", 0, STEPS)
    body = builder.thread()
    here = body.at()
    body.edge(here, here, put(cell, plus(cell, 1)), guard=Binary("lt", load(cell), Const(STEPS)))
    wrong = Check(Const(0), Fault.ASSERT, "too far")
    full = Binary("eq", load(cell), Const(STEPS))
    body.edge(here, FINISHED, wrong, kind=Kind.ASSERT, guard=full)
    return builder.program()


@pytest.mark.parametrize("improve", [fewest_steps, fewest_switches])
def test_a_long_schedule_is_not_interpreted(improve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the violation lies is known by native code: the interpreter takes the last step of a
    schedule, not all of them."""
    program = count_to_a_failure()
    found = search(program, "dfs", "assert").violation
    assert found is not None
    assert len(found.path) == STEPS + 1
    taken = []
    finish = Interpreter.finish

    def noted(self, run, state):
        taken.append(state)
        return finish(self, run, state)

    monkeypatch.setattr(Interpreter, "finish", noted)
    best = improve(program, found, SearchOptions(), Silent())
    monkeypatch.undo()
    assert best is not None
    assert shows(program, best)
    assert len(taken) < 10


def test_a_schedule_that_is_not_possible_is_like_no_other() -> None:
    """Nothing is the same violation as one that never happens."""
    impossible = Violation("assert", (Move(0),) * (STEPS + 5))
    assert fewest_steps(count_to_a_failure(), impossible, SearchOptions(), Silent()) is None
