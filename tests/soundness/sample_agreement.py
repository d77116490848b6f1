"""Compares programs with sampled choices with those in which all outcomes are tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mazurka.ir.interpreter import Interpreter
from mazurka.ir.passes import samples
from mazurka.ir.passes.samples import SampledProgram, Translation, take_samples
from mazurka.ir.program import Program
from mazurka.search import Move
from mazurka.stateful.reference.full import StateSpace, explore

FEW = 6
"""Choices with more outcomes are sampled here."""
MANY = 6000
BOUND = "bound"


@contextmanager
def few_outcomes() -> Iterator[None]:
    before, samples.MOST_OUTCOMES = samples.MOST_OUTCOMES, FEW
    try:
        yield
    finally:
        samples.MOST_OUTCOMES = before


def find_difference(program: Program) -> tuple[str | None, bool]:
    """Say what a sampled program hides or makes up; and whether it should hide nothing."""
    with few_outcomes():
        sampled = take_samples(program)
    whole = explore(program, limit=MANY)
    if sampled is None or not whole.complete:
        return None, False
    part = explore(sampled.program, limit=MANY)
    if not part.complete:
        return None, False
    if not part.states.keys() <= whole.states.keys():
        return "states that the program does not have", sampled.is_exact
    shown, there = show(part), show(whole)
    if not shown - {BOUND} <= there:
        return "violations that the program does not have", sampled.is_exact
    problem = follow(sampled)
    if problem is None and sampled.is_exact and BOUND in shown:
        problem = "a bound though nothing is missing"
    if problem is None and BOUND not in shown and shown != there:
        problem = f"{sorted(there - shown)} are missing"
    return problem, sampled.is_exact


def show(space: StateSpace) -> set[str]:
    """The violations: their kinds, and the messages of assertions."""
    texts = {report.message for _, _, report in space.faults if report.fault == "assert"}
    return space.kinds | texts


def follow(sampled: SampledProgram) -> str | None:
    """Take steps of the sampled program, translated, in the program itself."""
    tried, own = Interpreter(sampled.program), Interpreter(sampled.origin)
    state, translation = sampled.program.initial_state(), Translation(sampled)
    for number in range(12):
        steps = [
            (Move(step.thread, choice), step)
            for choice, step in tried.steps(state)
            if step.happened and (step.fault is None or step.fault.fault != "bound")
        ]
        if not steps:
            return None
        move, step = steps[7 * number % len(steps)]
        choice = translation.follow(move.thread, move.choice)
        if own.step(state, move.thread, choice).state != step.state:
            return f"{move} is not the choice {choice}"
        state = step.state
    return None
