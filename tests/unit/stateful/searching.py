"""Runs every search on one program, and replays what it finds."""

from __future__ import annotations

from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.program import Program
from mazurka.search import Move, SearchOptions, SearchResult, Silent, Violation
from mazurka.search.races import races_between
from mazurka.stateful.reference.full import explore
from mazurka.stateful.strategies.full import run

ORDERS = ("dfs", "bfs")
EVERYTHING = frozenset({"assert", "deadlock", "race"})
MEMORY = 1 << 28


def search(program: Program, order: str, *properties: str, whole: bool = False) -> SearchResult:
    options = SearchOptions(
        properties=frozenset(properties) or EVERYTHING,
        order=order,
        stop_at_first=not whole,
        limit_bytes=MEMORY,
    )
    return run(program, options, Silent())


def kind_found(program: Program, engine: str, *properties: str) -> str | None:
    """The kind of the violation that an engine finds first; `reference` looks for all."""
    if engine == "reference":
        kinds = explore(program).kinds
        if properties:
            kinds &= set(properties)
        return next(iter(sorted(kinds)), None)
    result = search(program, engine, *properties)
    assert result.limits == ()
    return result.violation.kind if result.violation else None


def state_after(program: Program, path: tuple[Move, ...]) -> State:
    interpreter = Interpreter(program)
    state = program.initial_state()
    for move in path:
        step = interpreter.step(state, move.thread, move.choice)
        assert step.happened
        state = step.state
    return state


def shows(program: Program, violation: Violation) -> bool:
    """Whether the schedule leads to what it promises, on the reference interpreter."""
    interpreter = Interpreter(program)
    if violation.kind == "deadlock":
        state = state_after(program, violation.path)
        outcomes = {step.outcome for _, step in interpreter.steps(state)}
        return Outcome.WAITS in outcomes and outcomes <= {Outcome.WAITS, Outcome.FINISHED}
    if violation.kind == "race":
        assert violation.racing is not None
        state = state_after(program, violation.path)
        moved = [(move, interpreter.step(state, move.thread, move.choice))
                 for move in violation.racing]  # fmt: skip
        return all(step.happened for _, step in moved) and bool(races_between(program, moved))
    *before, last = violation.path
    state = state_after(program, tuple(before))
    step = interpreter.step(state, last.thread, last.choice)
    return step.fault is not None and str(step.fault.fault) == violation.kind
