"""Judge a lasso from the definitions, without an automaton, before it is reported."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program
from mazurka.ltl.fairness import find_abilities, find_conditions
from mazurka.ltl.formulas import Formula
from mazurka.ltl.words import holds_on
from mazurka.search.result import Move


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
