"""The interpreter that remembers takes the steps of the one that does not."""

from __future__ import annotations

from random import Random

import pytest
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.random_programs import random_program
from tests.soundness.restarting import with_restart
from tests.soundness.variants import prepared
from tests.unit.ir.programs import Builder, put

from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.program import Fault, Mode, Program
from mazurka.ir.remembering import RememberingInterpreter, share_interpreter
from mazurka.stateful.reference.full import explore

STATES = 300


def make_program(seed: int) -> Program:
    rng = Random(seed)
    program = random_program(rng, faults=seed % 4 > 1) if seed % 2 else disciplined_program(rng)
    program = (with_restart(program, rng) or program) if seed % 3 else program
    return prepared(program) if seed % 5 > 2 else program


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_all_steps_are_the_same(first: int) -> None:
    for seed in range(first, first + 20):
        program = make_program(seed)
        plain, quick = Interpreter(program), RememberingInterpreter(program)
        for state in explore(program, races=False, limit=STATES).states:
            for thread in range(len(program.threads)):
                for choice in range(plain.choices(state, thread) + 1):
                    expected = plain.step(state, thread, choice)
                    assert quick.step(state, thread, choice) == expected, f"seed {seed}"


def test_most_steps_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    program = make_program(4)
    worked_out: list[object] = []
    original = RememberingInterpreter.finish

    def count(self: RememberingInterpreter, *arguments: object) -> object:
        worked_out.append(arguments)
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(RememberingInterpreter, "finish", count)
    found = explore(program)
    assert 0 < len(worked_out) < found.transitions // 2
    assert share_interpreter(program) is share_interpreter(program)
    worked_out.clear()
    assert explore(program) == found  # nothing is worked out again
    assert not worked_out


def test_too_many_steps_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.ir.remembering.MOST_STEPS", 3)
    program = make_program(4)
    quick = RememberingInterpreter(program)
    for state in explore(program, limit=STATES).states:
        assert list(quick.steps(state)) == list(Interpreter(program).steps(state))
        assert quick.count <= 3


def test_what_the_end_of_an_atomic_section_compares_is_not_remembered() -> None:
    """A section that sets x to 1 for ever is in the same situation again after one round where x
    was 1 before, else after two, although nothing is read."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    here, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(here, inside)
    body.edge(inside, inside, put(x, 1))
    program = builder.program()
    quick = RememberingInterpreter(program)
    for value in (0, 1, 0):
        state = (0, value, here)
        step = quick.step(state, 0)
        assert step == Interpreter(program).step(state, 0)
        assert step.outcome is Outcome.FAULT
        assert step.fault is not None
        assert step.fault.fault is Fault.LIVELOCK
    assert len({len(quick.step((0, value, here), 0).edges) for value in (0, 1)}) == 2
