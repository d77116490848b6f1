"""Random programs: nothing happens that the analysis did not foresee, and folding hides nothing."""

from __future__ import annotations

import random
from collections import deque

import pytest
from random_automata import Converting, random_program, without_limits
from tests.soundness.amounts import shares

from mazurka.errors import MazurkaError
from mazurka.ir import interpreter
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.passes.fold import fold
from mazurka.ir.passes.ranges import Inference, infer_ranges
from mazurka.ir.program import Program

MOST_STATES = 150


def reachable(program: Program) -> list[State]:
    """Breadth-first, up to a limit: any part of the reachable states is as good a witness."""
    machine = Interpreter(program)
    seen = {program.initial_state()}
    queue = deque(seen)
    while queue and len(seen) < MOST_STATES:
        for _, step in machine.steps(queue.popleft()):
            if step.happened and step.state not in seen:
                seen.add(step.state)
                queue.append(step.state)
    return sorted(seen)


def inferred(program: Program) -> Inference | None:
    try:
        return infer_ranges(program)
    except MazurkaError:
        return None


def assert_foreseen(program: Program, inference: Inference, state: State) -> None:
    for address, value in enumerate(state):
        assert inference.cells[address].contains(value), program.cells[address].name
        cell = inference.program.cells[address]
        assert cell.low <= value <= cell.high
        assert cell.points is None or value in cell.points
    for thread, at in zip(program.threads, inference.at, strict=True):
        location = state[thread.counter]
        if location > 2:
            for address, values in at[location].items():
                assert values.contains(state[address]), (location, program.cells[address].name)


def essence(step: Step) -> tuple[object, ...]:
    fault = step.fault and (step.fault.fault, step.fault.message, step.fault.span)
    return step.outcome, step.state, step.footprint_reads, step.footprint_writes, fault


@pytest.mark.parametrize("block", range(shares(5)))
def test_random_programs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Random atomic sections often never end; it need not take long to find out.
    monkeypatch.setattr(interpreter, "ATOMIC_LIMIT", 40)
    judged = 0
    for seed in range(block * 30, block * 30 + 30):
        chance = Converting(seed) if seed % 2 else random.Random(seed)
        program = random_program(chance)
        inference = inferred(program)
        if inference is None:
            continue
        judged += 1
        original = without_limits(program)
        folded = fold(inference.program, inference)
        before, after = Interpreter(original), Interpreter(folded)
        for state in reachable(original):
            assert_foreseen(program, inference, state)
            expected = [
                (choice, step.thread, essence(step)) for choice, step in before.steps(state)
            ]
            actual = [(choice, step.thread, essence(step)) for choice, step in after.steps(state)]
            assert expected == actual, f"seed {seed}, state {state}"
    assert judged >= 5
