"""What a hang is: threads that go round loops for ever, and nothing shared that ever changes again.

`docs/semantics.md` defines it for a state s.  A thread's *solo walk* from s is everything that it
can do alone, with all its choices.  Then s is a hang if

1. no thread's solo walk changes a shared cell;
2. each thread, observers apart, either cannot move in s (it waits or has ended), or its solo walk
   never fails and never comes to rest: it goes on for ever, whatever it chooses;
3. at least one thread, no observer, moves, and none has failed;
4. no thread that is stopped by an assumption could lead that thread out of its loop;
5. no thread has ended the process.

States with 1 to 3 are called *quiet* here.

**Why it is enough to look at one thread at a time.**  Let s be quiet.  By induction over the
length of a run from s, what a thread has done in it is a part of its solo walk: nothing that it
reads beside its own cells has changed.  So no run from s changes anything shared, a thread that
cannot move in s never will, and the others never come to rest.  The states that can be reached from
s are therefore a set which nobody leaves, and in which some threads go round for ever.  It is
*closed*: every step from a quiet state leads to a quiet state.

**Stopped threads.**  A thread that an assumption stops stands for executions that are left out.
Had the assumption held, it might have written what the others read in their loops.  So the threads
that hang are found as deadlocked threads are (`mazurka.analysis.standstill`, with the proof): a
thread that goes round reads what all steps of its solo walk read.  A thread that an assumption
stops with one of its choices, anywhere on its walk, counts as stopped, even if it goes round with
the others.  If threads go round and none of them hangs, the state is *excused*; a verdict says so.

Hangs are closed, too: a step from a hang leads to a quiet state in which the same threads hang.
The thread that has moved has less of its solo walk before it, so it reads no more than before; if
it does not hang, it may write no more than before, since no step of its walk has passed an edge
that needs a lock which a hanging thread holds.  So all conditions hold for the same set of threads.
For the same reason a state that is reached from an excused one is excused, or a hang.

**Nothing is overlooked.**  Let B be a bottom component of the state graph (each of its states can
be reached from each other one, and no step leaves it) in which no step changes anything shared, and
some thread moves.  A thread that moves in B always can come back to where it was, so it never fails
or rests there; one that does not move anywhere in B rests.  So every state of B is quiet, unless a
thread has failed, and whether it is a hang depends on what is read in B only.

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mazurka.analysis.cell_sets import bits
from mazurka.analysis.restarts import find_restartable_threads
from mazurka.analysis.standstill import MOST_KNOWN, find_deadlocked, find_judged_locks, read_beside
from mazurka.ir.expressions import Binary, Const, Expr, Load, children
from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.program import FIRST_LOCATION, WRONG, Program
from mazurka.ir.values.footprints import Footprints
from mazurka.search.result import Move, Violation


class Alone(enum.Enum):
    """What comes of a thread that goes on alone."""

    RESTS = "rests"
    """It cannot move: it waits or has ended."""
    STOPPED = "stopped"
    """It cannot move, because of an assumption."""
    FAILED = "failed"
    GOES_ROUND = "goes round"
    """It moves for ever, and changes nothing shared."""
    GOES_ON = "goes on"
    """It may change something shared, fail, or come to rest later."""


@dataclass(frozen=True)
class Walk:
    """What a thread does alone, from some state on."""

    alone: Alone
    waits: bool = False
    """Whether it rests since it waits."""
    is_stopped: bool = False
    """Whether an assumption has stopped it on its way, with one of its choices."""
    reads: int = 0
    """The cells that all its steps read, as bits."""
    places: frozenset[int] = frozenset()
    """The locations at which it rests between them."""


@dataclass(frozen=True)
class QuietState:
    """A state in which threads go round for ever, and nothing shared changes any more."""

    stopped: frozenset[int]
    """The threads that an assumption stops, at least with one of their choices."""
    failed: bool
    """Whether a thread has failed."""
    hanging: frozenset[int]
    """The threads that go round and that no stopped thread could help."""
    ended: bool = False
    """Whether a thread has ended the process, and so the loops of all."""

    @property
    def is_excused(self) -> bool:
        """Whether it is no hang because of an assumption."""
        return not self.hanging and not self.failed and not self.ended


@dataclass(frozen=True)
class EndlessLoop:
    """How a thread goes round, alone: the moves to the loop, and those of one round."""

    thread: int
    way: tuple[Move, ...]
    round: tuple[Move, ...]


def is_hang(interpreter: Interpreter, state: State) -> bool:
    """Whether threads go round for ever in a state, and nothing shared ever changes again."""
    found = examine_quiet(interpreter, state)
    return found is not None and bool(found.hanging)


def examine_quiet(interpreter: Interpreter, state: State) -> QuietState | None:
    """Find out who hangs in a quiet state; None if nobody goes round, or something may change."""
    walks: dict[int, Walk] = {}
    for number, thread in enumerate(interpreter.program.threads):
        walk = walk_alone(interpreter, state, number)
        if walk.alone is Alone.GOES_ON:
            return None
        if not thread.observer:
            walks[number] = walk
    return judge_walks(interpreter.program, state, walks)


class QuietStates:
    """Examines many states of one program: what was found out about a thread is remembered.

    What comes of a thread alone depends on the cells that are its own or shared, on those that it
    may write, and on which other threads are at reserved locations.  Who hangs depends on what all
    do alone, and on who holds which lock: where in its walk a thread is makes no difference, as it
    may come to all of it.
    """

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        program = interpreter.program
        own, footprints = find_own_cells(program), Footprints(program)
        self.counters = [thread.counter for thread in program.threads]
        self.visible: list[list[int]] = []
        """By thread: the cells that are not another one's own, and those that it may write."""
        for number, thread in enumerate(program.threads):
            hidden = frozenset[int]().union(*own[:number], *own[number + 1 :])
            written = {a for edge in thread.edges for a in footprints.of_edge(edge).writes}
            cells = range(len(program.cells))
            self.visible.append([a for a in cells if a not in hidden or a in written])
        self.walks: dict[tuple[int, ...], Walk] = {}
        self.found: dict[object, QuietState | None] = {}

    def examine(self, state: State) -> QuietState | None:
        """Find out who hangs in a state, as `examine_quiet` does."""
        reserved = tuple([min(state[counter], FIRST_LOCATION) for counter in self.counters])
        walks = [self._walk(state, number, reserved) for number in range(len(self.counters))]
        if any(walk.alone is Alone.GOES_ON for walk in walks):
            return None
        program = self.interpreter.program
        key = (*walks, *(state[lock] for lock in find_judged_locks(program)))
        if key not in self.found:
            if len(self.found) == MOST_KNOWN:
                self.found.clear()
            threads = enumerate(program.threads)
            acting = {n: walks[n] for n, thread in threads if not thread.observer}
            self.found[key] = judge_walks(program, state, acting)
        return self.found[key]

    def _walk(self, state: State, thread: int, reserved: tuple[int, ...]) -> Walk:
        key = (thread, *reserved, *[state[address] for address in self.visible[thread]])
        found = self.walks.get(key)
        if found is None:
            if len(self.walks) == MOST_KNOWN:
                self.walks.clear()
            found = self.walks[key] = walk_alone(self.interpreter, state, thread)
        return found


def judge_walks(program: Program, state: State, walks: Mapping[int, Walk]) -> QuietState | None:
    """Find out who hangs, by what the threads do alone, observers apart; None if nobody moves."""
    moving = {number for number, walk in walks.items() if walk.alone is Alone.GOES_ROUND}
    if not moving:
        return None
    stopped = frozenset(number for number, walk in walks.items() if walk.is_stopped)
    failed = any(walk.alone is Alone.FAILED for walk in walks.values())
    if failed or program.has_ended(state):
        return QuietState(stopped, failed, frozenset(), ended=not failed)
    if not stopped:
        return QuietState(stopped, False, frozenset(moving))
    concerned = {
        number: walk.reads | read_beside(program, number, walk.places)
        for number, walk in walks.items()
        if (number in moving or walk.waits) and number not in stopped
    }
    found = find_deadlocked(program, state, concerned, stopped)
    return QuietState(stopped, False, found & moving)


def walk_alone(interpreter: Interpreter, state: State, thread: int) -> Walk:
    """Let a thread go on alone, with all its choices, until it changes something shared.

    An observer may rest and fail as it likes.
    """
    watching = interpreter.program.threads[thread].observer
    if interpreter.location(state, thread) == WRONG and not watching:
        return Walk(Alone.FAILED)
    own = find_own_cells(interpreter.program)[thread]
    seen, work = {state}, [state]
    reads, is_stopped = 0, False
    places: set[int] = set()
    for here in work:
        steps = [step for _, step in interpreter.steps_of(here, thread)]
        moves = [step for step in steps if step.happened]
        reads |= bits(cell for step in steps for cell in step.footprint_reads)
        places.add(interpreter.location(here, thread))
        outcomes = {step.outcome for step in steps}
        is_stopped |= Outcome.STOPPED in outcomes
        if not moves and not watching:
            if here != state:
                return Walk(Alone.GOES_ON)
            alone = Alone.STOPPED if is_stopped else Alone.RESTS
            waits = Outcome.WAITS in outcomes and not is_stopped
            return Walk(alone, waits, is_stopped, reads, frozenset(places))
        for step in moves:
            if step.fault is not None:
                if watching:
                    continue
                return Walk(Alone.GOES_ON)
            if changes_shared(here, step.state, own):
                return Walk(Alone.GOES_ON)
            if step.state not in seen:
                seen.add(step.state)
                work.append(step.state)
    return Walk(Alone.GOES_ROUND, False, is_stopped, reads, frozenset(places))


def changes_shared(before: State, after: State, own: frozenset[int]) -> bool:
    """Whether a step has changed a cell that is not its thread's own."""
    pairs = enumerate(zip(before, after, strict=True))
    return any(one != other and address not in own for address, (one, other) in pairs)


def make_hang(interpreter: Interpreter, state: State, path: tuple[Move, ...]) -> Violation:
    """The violation at the end of a path: each thread goes to its loop, then round it once."""
    loops = find_loops(interpreter, state)
    way = tuple(move for loop in loops for move in loop.way)
    rounds = tuple(move for loop in loops for move in loop.round)
    moves, start = (*path, *way, *rounds), len(path) + len(way)
    return Violation("hang", moves, loop_start=start, settled=len(path))


def find_loops(interpreter: Interpreter, state: State) -> list[EndlessLoop]:
    """How each thread that hangs goes round, always by its first possible choice."""
    found = examine_quiet(interpreter, state)
    hanging = sorted(found.hanging) if found is not None else []
    return [_follow(interpreter, state, number) for number in hanging]


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
