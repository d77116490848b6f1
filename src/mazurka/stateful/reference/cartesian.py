"""Cartesian partial-order reduction, written as in the paper, on the interpreter: slow and plain.

Gueta, Flanagan, Yahav, Sagiv, *Cartesian Partial-Order Reduction* (SPIN 2007), Figures 6 and 7.
From a state every thread is followed on its own, as far as the threads do not get in each other's
way; only what lies at the ends of these *prefixes* is explored further.

| paper | here |
|---|---|
| *prefix* of thread T, `states(p)`, `last(p)` | `Prefix`, `Prefix.states`, `Prefix.last` |
| `last_tran(p)`, *extendable*, *marked as infinite* | `last_tran`, `extendable`, `infinite` |
| `NextTrans`, `NextState` | `next_trans`, `Step.state` |
| `CalcCV` (Fig. 6), `modelCheck` (Fig. 7) | `Cartesian.calc_cv`, `Cartesian.model_check` |
| CoveredSet, WorkSet | `Cartesian.covered`, `work` |

Two steps of different threads are dependent if one writes a cell that the other reads or writes.
Footprints are exact, so this is decided for the cells the steps touch here, through pointers and
computed indexes.  A step is determined by its thread's own cells and by the cells it reads, hence
two steps without a conflict commute, and neither can change or disable the other.  A thread's own
cells are in no footprint of its steps, yet others may write them: who creates a thread sets its
counter.  So each step counts as a use of all its thread's cells (`with_cells`); a thread that does
not exist yet uses its counter only, which is what its creator changes.

**Theorem 1** (the paper's): every local state that a thread can be in is found in a prefix.
*Definition 2* is the hypothesis: a step in a prefix of one thread and a step in a prefix of another
are independent, unless both are the last of their prefixes.  Proof, in the form that also covers
what is added below.  Let σ be a shortest run from a covered state s to a state d, without steps
that change nothing.  While no thread has reached the end of a prefix, the steps taken are the
prefixes' own, as nothing they depend on has changed.  If nobody reaches an end, every thread's
local state in d is one of a prefix.  Otherwise let p, of thread i, be the first prefix completed.
The others' steps up to there are not last ones, hence independent of all of p, which can be moved
to the front.  Had p come back to one of its own states, that circle could be left out, and σ would
not be shortest.  So p does not return, `last(p)` is covered too, and the rest of σ is shorter.

The ignoring problem is answered by that proof: a prefix is left off for ever only if it returns to
itself, and whatever others do meanwhile is explored from the ends of their prefixes.

**Deviations from the paper**
- *Cycles.*  The proof allows more than Fig. 6 does: `CycleRule.RETURN` leaves off each prefix that
  returns, also by its first step, and also if its last step is in conflict.  Definition 2 knows no
  last transition of an infinite prefix, so that others would have to stop before they meet it; the
  figure, and we, let them stop behind it.
- *Blocked threads* loop where they are and read what they wait for (as in the paper); so do threads
  that stand at an assumption that fails.  One that reads nothing never moves again (`Finished`).
- *Choices.*  If a thread's first step has several outcomes, it has a prefix for each of them, and
  Definition 2 is kept between any two prefixes of different threads.  A prefix stops before a later
  step with several outcomes.  The proof holds as it stands: whatever the thread chooses, it follows
  one of its prefixes, and the others' steps are independent of all of them.
- *Faults* are steps to a state where the thread moves no more.  A step that does not end
  (`livelock`, `bound`) has no successor; it is the last of its prefix and of any run.

**Preserved**: local states, hence every fault with thread, place and message.  Deadlocks, if each
combination of prefixes that all end blocked is examined (`stuck_together`): let σ lead to a
deadlock d.  If some thread completes a prefix, the proof goes on from there with a shorter run.  If
not, each thread stands inside its prefixes, before a step that others have not affected and that
does not happen in d; so it is a loop, and d is the combination of the states before these loops.
The same holds of every state in which nobody moves, whether threads wait there, have ended or are
stopped by assumptions; which of them are deadlocks is decided for each (`analysis.standstill`).
Conversely such a combination can be reached: what comes before a loop is no last step.  Threads
that observe may stand anywhere; their steps can be left out of σ unless they complete a prefix.
States, races and other properties of several threads at a time are not preserved; a thread that
reads what such a property is about makes it a local one.  Races become local by marks
(`mazurka.ir.passes.race_marks.program`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias

from mazurka.analysis.standstill import is_deadlock
from mazurka.ir.interpreter import FaultReport, Outcome, State, Step
from mazurka.ir.program import IDLE, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.search import Move
from mazurka.stateful.reference.full import is_dead_end
from mazurka.stateful.variants import CycleRule, Finished

Transition: TypeAlias = tuple[int, Step]
"""A choice and the step that it leads to."""


@dataclass
class Prefix:
    """Steps of one thread from a state on."""

    thread: int
    states: list[State]
    transitions: list[Transition] = field(default_factory=list)
    extendable: bool = True
    infinite: bool = False
    """The search does not go on from its end."""
    inner: set[State] = field(default_factory=set)
    """The states between the first and the last."""
    reads: set[int] = field(default_factory=set)
    """What the steps before the last one read, all together."""
    writes: set[int] = field(default_factory=set)

    @property
    def last(self) -> State:
        return self.states[-1]

    @property
    def last_tran(self) -> Step:
        return self.transitions[-1][1]

    @property
    def moves(self) -> tuple[Move, ...]:
        return tuple(
            Move(self.thread, choice) for choice, step in self.transitions if step.happened
        )

    @property
    def goes_on(self) -> bool:
        return not self.infinite and not is_dead_end(self.last_tran)

    def add(self, transition: Transition) -> None:
        if self.transitions:
            self.reads |= self.last_tran.footprint_reads
            self.writes |= self.last_tran.footprint_writes
            self.inner.add(self.last)
        self.transitions.append(transition)
        self.states.append(transition[1].state)
        self.extendable = self.extendable and not is_dead_end(transition[1])

    def mark_infinite(self) -> None:
        self.infinite = True
        self.extendable = False

    def contains(self, state: State) -> bool:
        return state in self.inner or state in (self.states[0], self.last)

    def earlier_depends_on(self, step: Step) -> bool:
        """Whether a transition other than the last one is dependent with the step."""
        return dependent(step, self.reads, self.writes)

    def last_depends_on(self, step: Step) -> bool:
        last = self.last_tran
        return dependent(step, last.footprint_reads, last.footprint_writes)


def dependent(step: Step, reads: AbstractSet[int], writes: AbstractSet[int]) -> bool:
    """Whether one of the two sides writes what the other one uses."""
    mine = step.footprint_writes
    return not (
        mine.isdisjoint(reads)
        and mine.isdisjoint(writes)
        and step.footprint_reads.isdisjoint(writes)
    )


def with_cells(step: Step, cells: Iterable[int]) -> Step:
    """Let a step count as a use of these cells, too."""
    reads, writes = step.footprint_reads, step.footprint_writes
    if step.happened:
        writes = writes.union(cells)
    return step._replace(footprint_reads=reads.union(cells), footprint_writes=writes)


@dataclass
class Cartesian:
    """The search, and what it has found."""

    program: Program
    rule: CycleRule = CycleRule.RETURN
    finished: Finished = Finished.EXITS

    def __post_init__(self) -> None:
        self.interpreter = share_interpreter(self.program)
        self.covered: set[State] = set()
        self.transitions = 0
        """As the paper counts: all those in the vectors, and those executed to be rejected."""
        self.moves = 0
        """The same without the loops of threads that do not move."""
        self.faults: list[tuple[State, Move, FaultReport]] = []
        self.deadlocks: set[State] = set()
        threads = range(len(self.program.threads))
        self.own_cells = [
            tuple(a for a, cell in enumerate(self.program.cells) if cell.owner == thread)
            for thread in threads
        ]
        self.local_states: list[set[State]] = [set() for _ in threads]
        """For each thread the values that its own cells have had together."""

    @property
    def kinds(self) -> set[str]:
        found = {str(report.fault) for _, _, report in self.faults}
        return found | ({"deadlock"} if self.deadlocks else set())

    def model_check(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Fig. 7; whether it has come to an end before `stop` said so."""
        work = [self.program.initial_state()]
        self.remember(work[0], range(len(self.program.threads)))
        while work:
            if stop():
                return False
            state = work.pop()
            if state in self.covered:
                continue
            self.covered.add(state)
            vector = self.calc_cv(state)
            ends = stuck_together(self.program, state, vector)
            self.deadlocks.update(end.state for end in ends)
            for prefix in vector:
                self.verify(prefix)
                if prefix.goes_on:
                    work.append(prefix.last)
        return True

    def verify(self, prefix: Prefix) -> None:
        """Assertions are checked by the steps themselves: look at each of them."""
        for state, (choice, step) in zip(prefix.states, prefix.transitions, strict=False):
            if step.fault is not None:
                self.faults.append((state, Move(step.thread, choice), step.fault))
            if not is_dead_end(step):
                written = {self.program.cells[address].owner for address in step.footprint_writes}
                self.remember(step.state, written)

    def remember(self, state: State, threads: Iterable[int | None]) -> None:
        for thread in threads:
            if thread is not None:
                own = self.own_cells[thread]
                self.local_states[thread].add(tuple(state[address] for address in own))

    # --- Fig. 6 -------------------------------------------------------------------------------

    def calc_cv(self, state: State) -> list[Prefix]:
        """A cartesian vector: by turns, in the order of the threads, one transition a turn."""
        threads = range(len(self.program.threads))
        vector = [prefix for thread in threads for prefix in self.shortest(state, thread)]
        for one, other in itertools.combinations(vector, 2):
            if one.thread != other.thread and other.last_depends_on(one.last_tran):
                one.extendable = other.extendable = False
        while any(prefix.extendable for prefix in vector):
            for prefix in vector:
                if prefix.extendable:
                    self.extend(prefix, vector)
        self.count(step for prefix in vector for _, step in prefix.transitions)
        return vector

    def shortest(self, state: State, thread: int) -> Iterator[Prefix]:
        """A prefix of one transition for each outcome of the thread's first step."""
        for transition in self.next_trans(state, thread):
            prefix = Prefix(thread, [state])
            returns = self.returns(prefix, transition[1])
            prefix.add(transition)
            if returns:
                prefix.mark_infinite()
            yield prefix

    def extend(self, prefix: Prefix, vector: list[Prefix]) -> None:
        """Add the thread's next transition, unless Definition 2 forbids it."""
        following = self.next_trans(prefix.last, prefix.thread)
        if len(following) > 1:
            prefix.extendable = False
            return
        step = following[0][1]
        others = [other for other in vector if other.thread != prefix.thread]
        if any(other.earlier_depends_on(step) for other in others):
            prefix.extendable = False
            self.count([step])
            return
        for other in others:
            if other.last_depends_on(step):
                prefix.extendable = other.extendable = False
        returns = self.returns(prefix, step)
        prefix.add(following[0])
        if returns:
            prefix.mark_infinite()

    def next_trans(self, state: State, thread: int) -> list[Transition]:
        idle = self.interpreter.location(state, thread) == IDLE
        return [
            (choice, step if idle else with_cells(step, self.own_cells[thread]))
            for choice, step in self.interpreter.steps_of(state, thread)
        ]

    def returns(self, prefix: Prefix, step: Step) -> bool:
        """Whether the prefix is marked as infinite when the step is added to it."""
        if self.exits(step):
            return True
        match self.rule:
            case CycleRule.RETURN:
                return prefix.contains(step.state)
            case CycleRule.LITERAL:
                begun = bool(prefix.transitions)
                return begun and prefix.extendable and prefix.contains(step.state)
            case CycleRule.TABLE1:
                return prefix.extendable and step.state in prefix.inner

    def exits(self, step: Step) -> bool:
        """A thread that cannot move and has looked at nothing but its own variables never will."""
        if step.happened or self.finished is Finished.LOOPS:
            return False
        own, counter = self.own_cells[step.thread], self.program.threads[step.thread].counter
        return all(a.address in own and a.address != counter for a in step.accesses)

    def count(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.transitions += not self.exits(step)
            self.moves += step.happened


# --- deadlocks --------------------------------------------------------------------------------


@dataclass(frozen=True)
class StuckEnd:
    """Where a thread gets to by itself and cannot move, and why it cannot."""

    state: State
    outcomes: frozenset[Outcome]
    moves: tuple[Move, ...] = ()
    """The steps that lead there."""


def stuck_together(program: Program, start: State, vector: list[Prefix]) -> Iterator[StuckEnd]:
    """The deadlocks that the prefixes lead to, one of each thread."""
    ends = [
        list(stuck_ends([prefix for prefix in vector if prefix.thread == number]))
        for number, thread in enumerate(program.threads)
        if not thread.observer
    ]
    interpreter = share_interpreter(program)
    for combination in itertools.product(*ends):
        outcomes = frozenset[Outcome]().union(*(end.outcomes for end in combination))
        state = together(start, combination)
        if Outcome.WAITS in outcomes and is_deadlock(interpreter, state):
            moves = tuple(move for end in combination for move in end.moves)
            yield StuckEnd(state, outcomes, moves)


def stuck_ends(prefixes: list[Prefix]) -> Iterator[StuckEnd]:
    """The ends of one thread's prefixes at which it is blocked or finished.

    It is stuck at the beginning only if none of its choices lets it move.
    """
    first_steps = [prefix.transitions[0][1] for prefix in prefixes]
    if not any(step.happened for step in first_steps):
        outcomes = frozenset(step.outcome for step in first_steps)
        yield StuckEnd(prefixes[0].states[0], outcomes)
        return
    for prefix, first in zip(prefixes, first_steps, strict=True):
        if first.happened and not prefix.last_tran.happened:
            yield StuckEnd(prefix.last, frozenset({prefix.last_tran.outcome}), prefix.moves)


def together(start: State, ends: Iterable[StuckEnd]) -> State:
    """What results if all threads go to their ends: independent, they change different cells."""
    cells = list(start)
    for end in ends:
        for address, (before, after) in enumerate(zip(start, end.state, strict=True)):
            if before != after:
                cells[address] = after
    return tuple(cells)


def explore_cartesian(
    program: Program,
    *,
    rule: CycleRule = CycleRule.RETURN,
    finished: Finished = Finished.EXITS,
) -> Cartesian:
    """Search a program with this reduction."""
    search = Cartesian(program, rule, finished)
    search.model_check()
    return search
