"""Stubborn sets with lock patterns, written as in the paper, on the interpreter: slow and plain.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006), section 3 (Algo 2 and Algo 3) and section 4.2; after Godefroid,
*Partial-Order Methods for the Verification of Concurrent Systems* (1996).  From each state only the
steps of some threads are explored, such that whatever the others do has nothing to do with them.

| paper | here |
|---|---|
| Algo 2, Algo 3 | `Relation.STATIC`, `Relation.LOCK_PATTERNS` |
| T_s, begun with an enabled t | `PersistentSets.closure`, as a set of threads; `seed` |
| cstub, min of the J_i | `PersistentSets.candidates`, `choose` |
| conflict_i(j); steps 2(a)ii and 2(b)i | `PersistentSets.conflict` |
| used(t), touch-now | `ThreadAttempt.uses` |
| touch-now-later, -LS | `mazurka.analysis.futures` |
| CLP(T_i, s): the locks held | `PersistentSets.held_by` |
| sticky(pc) | `mazurka.analysis.futures` |

**Deviations from the paper**
- *Threads, not transitions* (as in section 4.2).  If one transition of a thread is needed, all
  those of its location are taken.  Algo 1 taken edge by edge has a gap where several edges leave
  one location: a transition t which is disabled by a condition over *local* variables can be
  enabled by its own thread, which goes round through another edge; step 2(a)ii looks for
  transitions which change that condition by a relation that holds between distinct threads only.
- *What a thread does now* is not touch-now but the exact footprint of its attempt in this state,
  all choices together.  As long as nobody writes what the attempt has read, it remains the same.
- *Reads* of the same cell are independent; the paper's touch relations do not tell them apart.
- *Blocked threads* are disturbed by writes only, to what the attempt has read; threads that do not
  run (yet), by a write to their counter.
- *Queues*: a put and a get of one queue are independent, whenever both are possible
  (`mazurka.analysis.channels`, with the proof).  So an attempt is taken to be the same if its
  thread goes the same way with the same values; what it writes into the queue's cells may have
  moved by a slot.  A put for which the analysis has no room left is dependent on gets, and never
  stands alone.

**Theorem** (the paper's Theorem 1): the enabled steps T of a closure C in s are a persistent set:
nothing that can happen from s before a step of T is dependent with one.  *Proof.*  Let t_1 ... t_n
be a run from s without steps of T, and no earlier step of it in conflict with an attempt of C.  So
all attempts of C are still the same: no thread of C has moved, since those that are enabled in s
only have steps of T, and those that are not are still blocked.  So t_n is of a thread j outside of
C, which has followed a path of its own code from where it stood in s, or from its beginning if
somebody has started it.  If t_n were in conflict with an attempt of a thread i of C, the cells
would be among those of `later(j)`, and j in C.  With lock patterns: i has not moved, so each lock
that it held in s is still its own (`futures.find_pattern_locks`), and j has taken no edge that
needs it; `later(j, held)` has left out nothing else.

**Deadlocks are preserved**, and so are all states in which nobody moves, whether threads wait there
or are stopped: the proof uses nothing else.  Let w lead from s to such a state.  It contains a step
of T, which would otherwise still be possible; the first can be moved to the front, where the
reduced search takes it, and the rest is shorter.  Steps of observers do not count: if T has no
others, w may contain none of it; then go on as with faults.  An observer that only looks changes
nothing for those who wait; where one writes there is no reduction at all
(`Futures.observers_meddle`).

**Hangs are preserved.**  Let w lead from s to a hang.  If it contains a step of T, the first is
moved to the front.  If not, any step of T can be put in front of w: it is still possible at the end
of w, and as every step from a hang leads to a hang, w leads to one from there, too.  The proviso
sees to it that this comes to an end, as with faults.  So some hang is visited; that one of those
visited is examined follows from their being closed under steps (`stateful.kernels.hangs`).

**Faults are preserved**, each with thread, place and message.  Let w lead from s to a step that
fails.  If it contains a step of T, this is moved to the front, as before.  If not, any step of T
can be put in front of w.  This must not go on for ever (the *ignoring problem*), which a proviso
sees to:

- `Proviso.STACK`: if not all threads are explored from a state, one of its successors is not on the
  stack of the depth-first search, or all threads are explored from that one.  In the first case it
  is finished earlier than the state itself, so that putting steps in front of w comes to an end
  with the second, or where w has a step of T.  In the second the first step of w is explored there,
  and the rest is shorter.  Which closure is taken makes no difference to any of this, since each is
  persistent: one without such a successor gives way to the next larger one, and only if there is no
  other are all threads explored.
- `Proviso.STICKY`: a thread that can move and stands at a sticky location is in conflict with all
  others.  Each cycle of states has a thread that leaves such a location, in a state from which
  therefore all threads are explored.

**Races are preserved**: one of the states with a race is visited if there is any.  Let w lead from
s to a state in which steps of threads i and j race.
- If w contains a step of T, the first is moved to the front: it leads to the same state, and the
  rest is shorter.
- If not, all attempts of C are still the same behind w.  If i and j are in C, their steps are
  possible in s with the same footprints, and race there.  If only i is, the step of j comes behind
  a run without steps of T and is in conflict with an attempt of C, which the theorem excludes: for
  data, in conflict means that the footprints share a cell and one of the steps writes it.
- If neither is, put any step of T in front of w.  It is independent of all steps of w, and of those
  of i and j, which both remain possible with the same footprints.  The proviso sees to it that this
  comes to an end, as with faults.

So it is enough to look at each state visited, at the steps of all threads.  A queue's cells are not
data, so that the finer rule for queues makes no difference to this.

A step that does not end (`livelock`, `bound`) has no successor to go on from.  A set that contains
one gives way in the same manner.  States and other properties of several threads at a time are not
preserved.

**With symmetry** the search runs over canonical states (`mazurka.stateful.quotient` has the proof).

**`Relation.AMPLE`** is the static rule that SPIN uses, as a baseline: the first thread whose step
from its location, whatever the state, has nothing in common with any code of any other thread is
explored alone, unless the proviso forbids it; if there is none, all are.  The theorem holds: the
cells of `later` are among these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from mazurka.analysis.cell_sets import CellSets, bits
from mazurka.analysis.futures import (
    RESTING,
    Futures,
    find_futures,
    find_pattern_locks,
    find_sticky_locations,
)
from mazurka.analysis.standstill import is_deadlock
from mazurka.ir.interpreter import FaultReport, Interpreter, State, Step
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.ir.symmetry import CanonicalInterpreter, Symmetry
from mazurka.search import Move
from mazurka.search.races import races_between
from mazurka.stateful.hangs import is_hang
from mazurka.stateful.reference.full import is_dead_end
from mazurka.stateful.variants import Proviso, Relation


@dataclass(frozen=True)
class ThreadAttempt:
    """What a thread does in a state if its turn comes."""

    thread: int
    location: int
    steps: tuple[tuple[int, Step], ...]
    """With their choices; those that do not happen as well."""
    uses: CellSets

    @property
    def enabled(self) -> bool:
        return any(step.happened for _, step in self.steps)

    @property
    def dead_end(self) -> bool:
        return any(is_dead_end(step) for _, step in self.steps)

    @property
    def moves(self) -> Iterator[tuple[Move, Step]]:
        return ((Move(self.thread, choice), step) for choice, step in self.steps if step.happened)


def is_several(attempts: list[ThreadAttempt]) -> bool:
    return sum(attempt.enabled for attempt in attempts) > 1


class PersistentSets:
    """Chooses the threads that are explored from a state."""

    def __init__(
        self,
        program: Program,
        relation: Relation = Relation.LOCK_PATTERNS,
        proviso: Proviso = Proviso.STACK,
        symmetry: Symmetry | None = None,
    ) -> None:
        self.program = program
        self.relation = relation
        self.plain = share_interpreter(program)
        self.interpreter: Interpreter = self.plain
        if symmetry is not None:
            self.interpreter = CanonicalInterpreter(self.plain, symmetry)
        self.futures: Futures = find_futures(program)
        self.everyone = frozenset(range(len(program.threads)))
        self.locks = (
            find_pattern_locks(program) if relation is Relation.LOCK_PATTERNS else frozenset()
        )
        self.sticky: list[frozenset[int]] = [frozenset() for _ in program.threads]
        if proviso is Proviso.STICKY:
            self.sticky = find_sticky_locations(program)

    # --- what threads do in a state -----------------------------------------------------------

    def attempts(self, state: State) -> list[ThreadAttempt]:
        return [self.attempt(state, thread) for thread in sorted(self.everyone)]

    def attempt(self, state: State, thread: int) -> ThreadAttempt:
        valid = tuple(self.interpreter.steps_of(state, thread))
        location = self.interpreter.location(state, thread)
        uses = self.uses(thread, location, [step for _, step in valid])
        return ThreadAttempt(thread, location, valid, uses)

    def uses(self, thread: int, location: int, steps: list[Step]) -> CellSets:
        """The cells that decide about an attempt, and those that it would write."""
        if location in RESTING:
            return self.futures.now(thread, location)
        reads = bits(cell for step in steps for cell in step.footprint_reads)
        writes = bits(cell for step in steps for cell in step.footprint_writes)
        channels = self.futures.channels
        found = CellSets(reads, writes).without(channels.cells)
        found |= self.futures.using(thread, location)
        if any(step.happened for step in steps) and not any(map(is_dead_end, steps)):
            return found
        return found | channels.waiting(thread, location)

    # --- Algo 2 and Algo 3 --------------------------------------------------------------------

    def choose(
        self,
        state: State,
        attempts: list[ThreadAttempt],
        allowed: Callable[[list[ThreadAttempt]], bool] = lambda _: True,
    ) -> frozenset[int] | None:
        """The first candidate that is allowed and whose steps all end; None if there is none."""
        for threads in self.candidates(state, attempts):
            chosen = [attempts[thread] for thread in threads]
            if not any(attempt.dead_end for attempt in chosen) and allowed(chosen):
                return threads
        return None

    def candidates(self, state: State, attempts: list[ThreadAttempt]) -> list[frozenset[int]]:
        """The closures begun with each thread that can move, first those with the fewest such."""
        if self.futures.observers_meddle:
            return []
        enabled = [attempt.thread for attempt in attempts if attempt.enabled]
        closures = [self.closure(state, attempts, seed) for seed in enabled]
        if self.relation is Relation.AMPLE:
            return [closure for closure in closures if len(closure) == 1]
        return sorted(closures, key=lambda closure: len(closure.intersection(enabled)))

    def closure(self, state: State, attempts: list[ThreadAttempt], seed: int) -> frozenset[int]:
        """All threads that are in conflict with the seed, or with one that is."""
        found, work = {seed}, [seed]
        while work:
            one = attempts[work.pop()]
            held = self.held_by(state, one.thread)
            for other in attempts:
                if other.thread not in found and self.conflict(one, other, held):
                    found.add(other.thread)
                    work.append(other.thread)
        return frozenset(found)

    def conflict(self, one: ThreadAttempt, other: ThreadAttempt, held: frozenset[int]) -> bool:
        """Whether the other thread might be the first to interfere with what this one does."""
        thread, location = other.thread, other.location
        if not one.enabled:  # 2(a)ii
            return bool(self.futures.later(thread, location).writes & one.uses.reads)
        if one.location in self.sticky[one.thread]:
            return True
        if self.relation is Relation.AMPLE:
            now = self.futures.now(one.thread, one.location)
            return one.dead_end or self.futures.everywhere(thread).interferes(now)
        return self.futures.later(thread, location, held).interferes(one.uses)  # 2(b)i

    def held_by(self, state: State, thread: int) -> frozenset[int]:
        """The locks that nobody else can get before this thread has moved."""
        return frozenset(lock for lock in self.locks if state[lock] == thread + 1)


@dataclass
class StubbornSearch:
    """A depth-first search with a persistent set from each state, and what it has found."""

    sets: PersistentSets
    proviso: Proviso = Proviso.STACK
    limit: int | None = None
    """Give up after so many states."""
    stop: Callable[[], bool] = lambda: False
    """Asked at each state whether to give up."""
    states: set[State] = field(default_factory=set)
    transitions: int = 0
    faults: list[tuple[State, Move, FaultReport]] = field(default_factory=list)
    deadlocks: list[State] = field(default_factory=list)
    hangs_wanted: bool = False
    hangs: list[State] = field(default_factory=list)
    races_wanted: bool = False
    races: list[State] = field(default_factory=list)
    """States with a race, each once."""
    reduced: int = 0
    """From how many states not all threads that could move were explored."""
    pending: set[State] = field(default_factory=set)
    """The states on the stack, but for those from which all threads are explored.  Whether a
    single one is all that can move is not asked: the native search does not try the others."""
    complete: bool = True

    @property
    def kinds(self) -> set[str]:
        found = {str(report.fault) for _, _, report in self.faults}
        found |= {"deadlock"} if self.deadlocks else set()
        found |= {"race"} if self.races else set()
        return found | ({"hang"} if self.hangs else set())

    def search(self) -> None:
        start = self.sets.program.initial_state()
        self.states.add(start)
        stack = [(start, iter(self.expand(start)))]
        newest = start
        while stack:
            state, successors = stack[-1]
            following = next(successors, None)
            if following is None:
                stack.pop()
                self.pending.discard(state)
                if state is newest:  # it has led to nothing new
                    self.look_for_hang(state)
            elif following not in self.states:
                if self.stop() or (self.limit is not None and len(self.states) >= self.limit):
                    self.complete = False
                    return
                self.states.add(following)
                newest = following
                stack.append((following, iter(self.expand(following))))

    def expand(self, state: State) -> list[State]:
        """The successors to explore; what happens on the way there is noted."""
        self.pending.add(state)
        attempts = self.sets.attempts(state)
        self.look_for_deadlock(state, attempts)
        self.look_for_race(state, attempts)
        threads = self.sets.choose(state, attempts, self.is_allowed)
        chosen = [attempts[thread] for thread in sorted(threads or self.sets.everyone)]
        left_out = any(a.enabled and a not in chosen for a in attempts)
        self.reduced += left_out
        if threads is None or (not left_out and is_several(chosen)):
            self.pending.discard(state)
        return [step.state for step in self.take(state, chosen) if not is_dead_end(step)]

    def is_allowed(self, chosen: list[ThreadAttempt]) -> bool:
        """The proviso, as far as it depends on the search."""
        if self.proviso is Proviso.STICKY:
            return True
        successors = {step.state for attempt in chosen for _, step in attempt.moves}
        return not successors <= self.pending

    def take(self, state: State, chosen: list[ThreadAttempt]) -> Iterator[Step]:
        for attempt in chosen:
            for move, step in attempt.moves:
                self.transitions += 1
                if step.fault is not None:
                    self.faults.append((state, move, step.fault))
                yield step

    def look_for_hang(self, state: State) -> None:
        if self.hangs_wanted and is_hang(self.sets.plain, state):
            self.hangs.append(state)

    def look_for_race(self, state: State, attempts: list[ThreadAttempt]) -> None:
        if self.races_wanted:
            moves = [each for attempt in attempts for each in attempt.moves]
            if races_between(self.sets.program, moves):
                self.races.append(state)

    def look_for_deadlock(self, state: State, attempts: list[ThreadAttempt]) -> None:
        threads = self.sets.program.threads
        stuck = not any(a.enabled and not threads[a.thread].observer for a in attempts)
        if stuck and is_deadlock(self.sets.interpreter, state):
            self.deadlocks.append(state)


def explore_persistent(
    program: Program,
    *,
    relation: Relation = Relation.LOCK_PATTERNS,
    proviso: Proviso = Proviso.STACK,
    races: bool = False,
    hangs: bool = False,
    limit: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    symmetry: Symmetry | None = None,
) -> StubbornSearch:
    """Search a program with this reduction, and with symmetry over canonical states only."""
    sets = PersistentSets(program, relation, proviso, symmetry)
    search = StubbornSearch(sets, proviso, limit, stop, hangs_wanted=hangs, races_wanted=races)
    search.search()
    return search
