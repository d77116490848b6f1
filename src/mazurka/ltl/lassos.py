"""Judge a lasso from the definitions, without an automaton, before it is reported."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program
from mazurka.ltl.fairness import find_abilities, find_conditions
from mazurka.ltl.formulas import Formula
from mazurka.ltl.words import holds_on
from mazurka.search.result import LASSO, Move, Violation

MOST_CUTS = 20
MOST_TRIED = 50
"""How many shorter lassos are judged before one is taken, or the search for one given up."""


def refute_lasso(
    program: Program, formula: Formula, moves: Sequence[Move], loop_start: int, *, fair: bool
) -> str | None:
    """Why a lasso is no counterexample; None if it is one.

    The moves from `loop_start` on are repeated for ever; none are if the run ends.  They are taken
    twice.
    """
    interpreter = Interpreter(program)
    states = [program.initial_state()]
    for number, move in enumerate((*moves, *moves[loop_start:]), 1):
        if not 0 <= move.thread < len(program.threads) or program.threads[move.thread].observer:
            return f"step {number} is made by no thread of the program"
        step = interpreter.step(states[-1], move.thread, move.choice)
        if not step.happened or step.fault is not None:
            return f"step {number}: {program.threads[move.thread].name} cannot move"
        states.append(step.state)
    length = len(moves)
    if not 0 <= loop_start <= length:
        return "the loop begins behind the end"
    if states[length] != states[loop_start] or states[-1] != states[loop_start]:
        return "the loop does not lead back to where it begins"
    if loop_start == length and find_abilities(interpreter, states[length]).able:
        return "the run does not end where it should"
    if not is_counted(interpreter, states, moves, loop_start, fair=fair):
        return "the run is left out: it is not fair, or an assumption stops a thread for ever"
    word = states[: max(length, loop_start + 1)]
    if holds_on(
        formula,
        len(word),
        loop_start,
        lambda position, each: bool(interpreter.value(word[position], 0, each)),
    ):
        return "the formula holds on the run"
    return None


def shorten_lasso(program: Program, formula: Formula, found: Violation, *, fair: bool) -> Violation:
    """The shortest lasso that is left of one when parts between equal states are cut out.

    A part of the run that leads from a state back to it can be left out, or be all that is
    repeated; what comes of it is another run, which is judged anew.
    """
    assert found.loop_start is not None
    interpreter = Interpreter(program)
    moves, start = list(found.path), found.loop_start
    for _ in range(MOST_CUTS):
        better = _find_shorter(interpreter, formula, moves, start, fair=fair)
        if better is None:
            break
        moves, start = better
    return Violation(LASSO, tuple(moves), loop_start=start)


def _find_shorter(
    interpreter: Interpreter, formula: Formula, moves: list[Move], start: int, *, fair: bool
) -> tuple[list[Move], int] | None:
    """A shorter lasso, with the longest possible part left out; None if there is none."""
    states = [interpreter.program.initial_state()]
    for move in moves:
        states.append(interpreter.step(states[-1], move.thread, move.choice).state)
    visits: dict[State, list[int]] = {}
    for position, state in enumerate(states):
        visits.setdefault(state, []).append(position)
    pairs = [
        (first, last)
        for positions in visits.values()
        for number, first in enumerate(positions)
        for last in positions[number + 1 :]
        if (first, last) != (start, len(moves))
    ]
    candidates: list[tuple[list[Move], int]] = []
    for first, last in pairs:
        if first >= start or last <= start:  # inside the loop, or before it
            shift = last - first if last <= start else 0
            candidates.append((moves[:first] + moves[last:], start - shift))
        candidates.append((moves[:last], first))
    candidates.sort(key=lambda each: len(each[0]))
    for shorter, begins in candidates[:MOST_TRIED]:
        wrong = refute_lasso(interpreter.program, formula, shorter, begins, fair=fair)
        if len(shorter) < len(moves) and wrong is None:
            return shorter, begins
    return None


def is_counted(
    interpreter: Interpreter,
    states: Sequence[State],
    moves: Sequence[Move],
    loop_start: int,
    *,
    fair: bool,
) -> bool:
    """Whether the loop meets every condition for runs that count."""
    repeated: list[tuple[State, int | None]] = [
        (states[position], moves[position].thread) for position in range(loop_start, len(moves))
    ]
    repeated = repeated or [(states[loop_start], None)]
    conditions = find_conditions(interpreter.program, fair=fair)
    if not conditions:
        return True
    abilities = [(find_abilities(interpreter, state), mover) for state, mover in repeated]
    return all(
        any(each.meet(condition, mover) for each, mover in abilities) for condition in conditions
    )
