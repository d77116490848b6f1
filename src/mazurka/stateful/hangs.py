"""What a hang is: threads that go round loops for ever, and nothing shared that ever changes again.

`docs/semantics.md` defines it for a state s.  A thread's *solo walk* from s is everything that it
can do alone, with all its choices.  Then s is a hang if

1. no thread's solo walk changes a shared cell;
2. each thread, observers apart, either cannot move in s (it waits or has ended), or its solo walk
   never fails and never comes to rest: it goes on for ever, whatever it chooses;
3. at least one thread, no observer, moves, and none is stopped by an assumption or a failure.

**Why it is enough to look at one thread at a time.**  Let s satisfy this.  By induction over the
length of a run from s, what a thread has done in it is a part of its solo walk: nothing that it
reads beside its own cells has changed.  So no run from s changes anything shared, a thread that
cannot move in s never will, and the others never come to rest.  The states that can be reached from
s are therefore a set which nobody leaves, and in which some threads go round for ever.  It is
*closed*: every step from a hang leads to a hang.

**Nothing is overlooked.**  Let B be a bottom component of the state graph (each of its states can
be reached from each other one, and no step leaves it) in which no step changes anything shared, and
some thread moves.  A thread that moves in B always can come back to where it was, so it never fails
or rests there; one that does not move anywhere in B rests.  So every state of B is a hang, unless a
thread is stopped.

Writing the value that is there already changes nothing, and nobody can tell: a lock that is tried
by swapping 1 into a cell that contains 1 is no change.

A cell counts as a thread's own if it is local, and no other thread's code reads it.  A program
counter that others only compare with the reserved locations (`FINISHED`, `WRONG`, `IDLE`) counts as
its thread's own: these comparisons do not tell where a thread is that moves.  Of a thread that
another one might start although it runs (no front end makes such a program), cells that other
threads' code writes are not its own either: whether starting it changes anything depends on where
it is.  Any other thread's cells are written by others only while it does not run.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.analysis.restarts import find_restartable_threads
from mazurka.ir.expressions import Binary, Const, Expr, Load, children
from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.program import FIRST_LOCATION, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.search.result import Move, Violation


class Alone(enum.Enum):
    """What comes of a thread that goes on alone."""

    RESTS = "rests"
    """It cannot move: it waits or has ended."""
    STOPPED = "stopped"
    """It cannot move, because of an assumption or a failure."""
    GOES_ROUND = "goes round"
    """It moves for ever, and changes nothing shared."""
    GOES_ON = "goes on"
    """It may change something shared, fail, or come to rest later."""


@dataclass(frozen=True)
class EndlessLoop:
    """How a thread goes round, alone: the moves to the loop, and those of one round."""

    thread: int
    way: tuple[Move, ...]
    round: tuple[Move, ...]


def is_hang(interpreter: Interpreter, state: State) -> bool:
    """Whether threads go round for ever in a state, and nothing shared ever changes again."""
    moving = False
    for number, thread in enumerate(interpreter.program.threads):
        alone = walk_alone(interpreter, state, number)
        if alone is Alone.GOES_ON or (alone is Alone.STOPPED and not thread.observer):
            return False
        moving |= alone is Alone.GOES_ROUND and not thread.observer
    return moving


def walk_alone(interpreter: Interpreter, state: State, thread: int) -> Alone:
    """Let a thread go on alone, with all its choices, until it changes something shared.

    An observer may rest and fail as it likes.
    """
    watching = interpreter.program.threads[thread].observer
    own = find_own_cells(interpreter.program)[thread]
    seen, work = {state}, [state]
    for here in work:
        steps = [step for _, step in interpreter.steps_of(here, thread)]
        moves = [step for step in steps if step.happened]
        if not moves and not watching:
            if here != state:
                return Alone.GOES_ON
            is_stopped = any(step.outcome is Outcome.STOPPED for step in steps)
            return Alone.STOPPED if is_stopped else Alone.RESTS
        for step in moves:
            if step.fault is not None:
                if watching:
                    continue
                return Alone.GOES_ON
            if changes_shared(here, step.state, own):
                return Alone.GOES_ON
            if step.state not in seen:
                seen.add(step.state)
                work.append(step.state)
    return Alone.GOES_ROUND


def changes_shared(before: State, after: State, own: frozenset[int]) -> bool:
    """Whether a step has changed a cell that is not its thread's own."""
    pairs = enumerate(zip(before, after, strict=True))
    return any(one != other and address not in own for address, (one, other) in pairs)


def make_hang(interpreter: Interpreter, state: State, path: tuple[Move, ...]) -> Violation:
    """The violation at the end of a path: each thread goes to its loop, then round it once."""
    loops = find_loops(interpreter, state)
    way = tuple(move for loop in loops for move in loop.way)
    rounds = tuple(move for loop in loops for move in loop.round)
    return Violation("hang", (*path, *way, *rounds), loop_start=len(path) + len(way))


def find_loops(interpreter: Interpreter, state: State) -> list[EndlessLoop]:
    """How each thread that moves in a hang goes round, always by its first possible choice."""
    return [
        _follow(interpreter, state, number)
        for number, thread in enumerate(interpreter.program.threads)
        if not thread.observer and _first_move(interpreter, state, number) is not None
    ]


def _follow(interpreter: Interpreter, state: State, thread: int) -> EndlessLoop:
    seen: dict[State, int] = {}
    moves: list[Move] = []
    while state not in seen:
        seen[state] = len(moves)
        following = _first_move(interpreter, state, thread)
        assert following is not None, "a thread that goes round for ever can move"
        move, state = following
        moves.append(move)
    start = seen[state]
    return EndlessLoop(thread, tuple(moves[:start]), tuple(moves[start:]))


def _first_move(interpreter: Interpreter, state: State, thread: int) -> tuple[Move, State] | None:
    for choice, step in interpreter.steps_of(state, thread):
        if step.happened:
            return Move(thread, choice), step.state
    return None


def find_own_cells(program: Program) -> tuple[frozenset[int], ...]:
    """For each thread the cells that no other thread's code can see."""
    key = "_own_cells"
    cache: dict[str, tuple[frozenset[int], ...]] = program.__dict__
    if key not in cache:
        cache[key] = _compute_own_cells(program)
    return cache[key]


def _compute_own_cells(program: Program) -> tuple[frozenset[int], ...]:
    footprints = Footprints(program)
    counters = {thread.counter for thread in program.threads}
    seen: set[int] = set()
    """Local cells that matter to another thread's code."""
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            for expr in edge.expressions:
                for pointer, tells_place in _list_reads(expr):
                    for cell in footprints.targets(pointer, edge.choices):
                        foreign = program.cells[cell].owner != number
                        if foreign and (tells_place or cell not in counters):
                            seen.add(cell)
    restartable = find_restartable_threads(program)
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            for cell in footprints.of_edge(edge).writes:
                owner = program.cells[cell].owner
                if owner in restartable and owner != number:
                    seen.add(cell)
    own: list[set[int]] = [set() for _ in program.threads]
    for address, each in enumerate(program.cells):
        if each.owner is not None and address not in seen:
            own[each.owner].add(address)
    return tuple(map(frozenset, own))


def _list_reads(expr: Expr) -> Iterator[tuple[Expr, bool]]:
    """The addresses that an expression reads from, and whether the value tells more of a program
    counter than that it is at a reserved location, or at none."""
    match expr:
        case Binary("eq" | "ne", Load(address), Const(value)) if 0 <= value < FIRST_LOCATION:
            yield address, False
            yield from _list_reads(address)
            return
        case Load(address):
            yield address, True
    for part in children(expr):
        yield from _list_reads(part)
