"""What a search of a program with marks has found, told of the program without them."""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.errors import InternalError
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.passes.race_marks.program import MarkedProgram
from mazurka.ir.program import Fault
from mazurka.search.races import races_between
from mazurka.search.result import Move, Violation


def unmark(marked: MarkedProgram, violation: Violation) -> Violation:
    """Translate a violation of a marked program: moves that declare a step are left out.

    A race names the step that met the mark, and one of those that were declared; that they race is
    checked in the program itself.
    """
    moves: list[Move] = []
    declared: list[Move] = []
    interpreter, state = Interpreter(marked.program), marked.program.initial_state()
    for number, move in enumerate(violation.path, 1):
        declares, taken = False, move
        if (move.thread, interpreter.location(state, move.thread)) in marked.declaring:
            declares, taken = move.choice % 2 == 1, Move(move.thread, move.choice // 2)
        if not declares or number == len(violation.path):
            moves.append(taken)  # where declaring a step fails, the step itself does
        else:
            declared.append(taken)  # its thread takes no more steps
        state = interpreter.step(state, move.thread, move.choice).state
    if violation.kind != Fault.RACE:
        return Violation(violation.kind, tuple(moves))
    return name_race(marked, tuple(moves[:-1]), moves[-1], declared)


def name_race(
    marked: MarkedProgram, path: tuple[Move, ...], meeting: Move, declared: Sequence[Move]
) -> Violation:
    """The race of a move behind a path with one that was declared on the way; an internal error if
    there is none.  (The other steps of the state need not be tried: they may be 2**64.)"""
    interpreter = Interpreter(marked.origin)
    state = marked.origin.initial_state()
    for move in path:
        state = interpreter.step(state, move.thread, move.choice).state
    moves = sorted([meeting, *declared], key=lambda move: move.thread)
    steps = [(move, interpreter.step(state, move.thread, move.choice)) for move in moves]
    possible = [(move, step) for move, step in steps if step.happened]
    for first, second, _ in races_between(marked.origin, possible):
        if meeting in (first, second):
            return Violation(str(Fault.RACE), path, (first, second))
    raise InternalError("a mark was met, but the steps do not race")
