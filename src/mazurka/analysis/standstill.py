"""States in which nobody moves: which threads wait for each other, and which for a stopped thread.

A thread that an assumption stops takes no more steps, yet it stands for executions that are left
out, not for a thread that is gone: had the assumption held, the thread might have ended the waits
of others.  So a wait counts for a deadlock only if no stopped thread could end it.  "Could" is
judged by the program text (`docs/semantics.md`, *Violations*):

    Let W be the threads that wait in a state in which nobody moves.  D, the deadlocked threads, is
    the largest subset of W such that no thread outside of D may write a cell which the step of a
    thread in D reads in this state.  Outside of D are the threads stopped by an assumption, the
    other threads of W, and the threads that one of these may start.  What such a thread may write
    is what the code from its location on may write, if all assumptions held and no check failed
    (`mazurka.analysis.unstopped`), without edges that need a lock which a thread in D holds, if
    only holders release it.

*There is a largest such set*, since the union of two is one, too: there are fewer threads outside
of the union, and more locks are held by it.  `find_deadlocked` starts with W and removes threads
until nothing has to be removed; it never removes a thread of the largest set, since what is outside
may write no less than in the definition.

*A thread in D never moves again*, whatever the assumptions of the stopped threads are.  Consider
the first step of a run from this state that writes what a thread in D reads, or moves a thread in
D.  It is not a step of D: a step depends on the thread's own cells and on what it reads
(`read_beside` adds what others may write of its own cells, and the ends of queues, for which
queues' cells stand in no set of `Futures`), and neither has changed.
So it is a step of a thread outside, which has come there through its own code; and through no edge
that needs a lock of D, since D still holds it (`futures.find_pattern_locks`).  So the cell is among
those that the thread may write, and the other thread would not be in D.

If no thread is stopped, nobody is outside of W, and D is W.  Where a thread has ended the process
(`Kind.END`), nobody waits: the process is gone.  A thread that has failed excuses
everything, as the rest of its execution is not there to be judged.  So does a thread outside of D
if every path from its location leads to a failure behind which the text ends (`assert False`).

*Threads that go round.*  W may also contain threads that go round loops for ever and change nothing
shared (`mazurka.stateful.hangs`); what such a thread reads is what all steps of its loops read.
The proof is the same: as long as nothing of that changes, it takes no other steps.

*Wide choices.*  What a thread does is judged by trying all outcomes of its choices.  Of a step with
more than `MOST_OUTCOMES` those are tried that stand for all of them (`mazurka.ir.passes.samples`).
Where no few of them do, only a search of a circuit has come here, which knows of every outcome that
it does not move the thread, and some are tried to tell what it waits for.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from mazurka.analysis.cell_sets import bits
from mazurka.analysis.futures import RESTING, Futures, find_futures, find_pattern_locks
from mazurka.analysis.unstopped import find_unknown_futures, find_unstopped
from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.passes.samples import MOST_OUTCOMES, Translation, take_samples
from mazurka.ir.program import WRONG, Program

LOCKS, KNOWN = "_pattern_locks", "_known_standstills"
MOST_KNOWN = 20_000
"""How many answers are remembered at the same time."""
EVERYTHING = -1
"""All cells, as bits."""
MOST_TRIED = 1000
"""So many outcomes are tried where none are known to stand for the others."""


@dataclass(frozen=True)
class Standstill:
    """A state in which no thread can move, apart from observers."""

    waiting: frozenset[int]
    """The threads that wait."""
    stopped: frozenset[int]
    """The threads at an assumption that does not hold, at least with one of their choices."""
    failed: bool
    """Whether a thread has failed."""
    deadlocked: frozenset[int]
    """Those that wait and that no stopped thread could help."""
    ended: bool = False
    """Whether a thread has ended the process: then nobody waits any more."""

    @property
    def is_excused(self) -> bool:
        """Whether threads wait, and it is no deadlock because of an assumption."""
        return bool(self.waiting and not self.deadlocked and not self.failed)


def examine_standstill(interpreter: Interpreter, state: State) -> Standstill | None:
    """Find out who waits in a state in which nobody moves; None if a thread can move."""
    program = interpreter.program
    waiting: dict[int, int] = {}
    stopped: set[int] = set()
    failed = False
    for number, thread in enumerate(program.threads):
        if thread.observer:
            continue
        steps = [step for _, step in find_tried_steps(interpreter, state, number)]
        outcomes = {step.outcome for step in steps}
        if outcomes & {Outcome.MOVED, Outcome.FAULT}:
            return None
        if interpreter.location(state, number) == WRONG:
            failed = True
        elif Outcome.STOPPED in outcomes:
            stopped.add(number)
        elif Outcome.WAITS in outcomes:
            waiting[number] = _reads_of(steps)
    if program.has_ended(state):
        return Standstill(frozenset(), frozenset(), failed, frozenset(), ended=True)
    found: frozenset[int] = frozenset()
    if waiting and not failed:
        found = find_deadlocked(program, state, waiting, stopped)
    return Standstill(frozenset(waiting), frozenset(stopped), failed, found)


def find_tried_steps(
    interpreter: Interpreter, state: State, thread: int
) -> Iterable[tuple[int, Step]]:
    """The outcomes of a thread's choices: all of them, or those that stand for them."""
    if interpreter.choices(state, thread) <= MOST_OUTCOMES:
        return interpreter.steps_of(state, thread)
    sampled = take_samples(interpreter.program)
    if sampled is None:  # several choices, each with few outcomes
        return interpreter.steps_of(state, thread)
    untried, translation = sampled.untried, Translation(sampled, state)
    found = [
        translation.choice(thread, choice)
        for choice, step in Interpreter(sampled.program).steps_of(state, thread)
        if step.fault is None or step.fault.message not in untried
    ]
    if not found:  # the section chooses in a loop
        return islice(interpreter.steps_of(state, thread), MOST_TRIED)
    return [(choice, interpreter.step(state, thread, choice)) for choice in found]


def _reads_of(steps: Iterable[Step]) -> int:
    return bits(cell for step in steps for cell in step.footprint_reads)


def is_deadlock(interpreter: Interpreter, state: State) -> bool:
    """Whether nobody moves in a state and somebody waits whom no stopped thread could help."""
    found = examine_standstill(interpreter, state)
    return found is not None and bool(found.deadlocked)


def find_deadlocked(
    program: Program, state: State, waiting: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    """Find the waiting threads whose waits no stopped thread could end.

    `waiting` has for each thread the cells that its step reads here, as bits.  The answer depends
    on these, on where the threads are and on who holds which lock, and is remembered by them.
    """
    if not stopped:
        return frozenset(waiting)
    judged = find_unstopped(program)
    known: dict[Hashable, frozenset[int]] = judged.__dict__.setdefault(KNOWN, {})
    places = tuple([state[thread.counter] for thread in program.threads])
    owners = tuple([state[lock] for lock in _find_locks(judged)])
    key = places, owners, tuple(waiting.items()), tuple(sorted(stopped))
    found = known.get(key)
    if found is None:
        if len(known) == MOST_KNOWN:
            known.clear()
        found = known[key] = _compute_deadlocked(judged, state, waiting, stopped)
    return found


def _compute_deadlocked(
    judged: Program, state: State, waiting: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    futures = find_futures(judged)
    reads = {
        thread: seen | read_beside(judged, thread, [state[judged.threads[thread].counter]])
        for thread, seen in waiting.items()
    }
    found = frozenset(waiting)
    while True:
        outside = {*stopped, *(waiting.keys() - found)}
        held = frozenset(lock for lock in _find_locks(judged) if state[lock] - 1 in found)
        written = _may_write(futures, state, outside, held)
        helped = {thread for thread in found if written == EVERYTHING or reads[thread] & written}
        if not helped:
            return found
        found -= helped


def read_beside(program: Program, thread: int, places: Iterable[int]) -> int:
    """What steps from some locations read beside their footprints, as bits: cells of the thread's
    own that others may write, and ends of queues."""
    futures, found = find_futures(find_unstopped(program)), 0
    for place in places:
        found |= futures.using(thread, place).reads
        found |= futures.channels.waiting(thread, place).reads
    return found


def find_judged_locks(program: Program) -> frozenset[int]:
    """Find the locks whose holders matter to `find_deadlocked`."""
    return _find_locks(find_unstopped(program)) if program.has_assumptions else frozenset()


def _find_locks(program: Program) -> frozenset[int]:
    """Find the locks that only their holders can release; they are kept in the program."""
    locks: frozenset[int] | None = program.__dict__.get(LOCKS)
    if locks is None:
        locks = program.__dict__[LOCKS] = find_pattern_locks(program)
    return locks


def _may_write(
    futures: Futures, state: State, threads: Collection[int], held: frozenset[int]
) -> int:
    """Find the cells that these threads, and those that they may start, may write from here."""
    counters = [thread.counter for thread in futures.program.threads]
    resting = {n for n, counter in enumerate(counters) if state[counter] in RESTING}
    unknown = find_unknown_futures(futures.program)
    active, written = set(threads), 0
    while active:
        for thread in active:
            place = state[counters[thread]]
            places = futures.beginnings[thread] if place in RESTING else (place,)
            if not unknown[thread].isdisjoint(places):
                return EVERYTHING
            written |= futures.later(thread, place, held).writes
        active = {thread for thread in resting if written >> counters[thread] & 1}
        resting -= active
    return written


def find_failed_assumptions(interpreter: Interpreter, state: State, thread: int) -> Iterator[int]:
    """The numbers of the edges at which a thread is stopped, with one choice or another."""
    for choice, step in find_tried_steps(interpreter, state, thread):
        edge = interpreter.last_tried_edge(state, thread, choice)
        if step.outcome is Outcome.STOPPED and edge is not None:
            yield edge
