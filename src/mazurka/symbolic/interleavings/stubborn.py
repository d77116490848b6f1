"""One step a frame, of a thread in a conditional stubborn set: paper 004's two reduced schedulers.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006), section 4.2.  The scheduler of the full interleaving is kept,
and a constraint says which threads it may choose in a state.

| paper | here |
|---|---|
| execute_i | the number among the inputs is i (`mazurka.symbolic.interleavings.full`) |
| R = some i: execute_i and cstub_i and R_i | `restrict_to_stubborn_sets` |
| touch-now(T_i, x) | `AttemptLiterals.reads`, `AttemptLiterals.writes` |
| touch-now-later(T_j, x), -LS; lockPred, CLP | `mazurka.symbolic.later` |
| conflict_i(j) | `StubbornSets.conflict` |
| sticky(pc_i) | part of `AttemptLiterals.alone_never` |
| J_i, the closure of {i} | `StubbornSets.close` |
| min, cstub | `StubbornSets.choose` |
| the scheduler with partial orders alone; with transactions | `patterns=False`; `True` |

The sets are those that `mazurka.stateful.reference.stubborn` computes state by state, with the
proviso *sticky*; its docstring has the deviations from the paper (threads instead of transitions,
exact footprints, reads apart from writes, blocked threads, queues with two ends, the fewest threads
that can move) and all proofs, of which the following is the outline.

**Theorem.**  Let C be a set of threads closed under `conflict` in a state s, one of which can move,
and T their steps.  Nothing that can happen from s before a step of T is dependent with one: a
thread outside of C that did so would have touched a cell that a thread i of C touches now, so that
cell would be among what it may touch later, and it would be in conflict with i.  With lock
patterns: i has not moved, so each lock that it holds in s is still its own, and nobody has taken an
edge that needs it.

So in an execution from s to a *deadlock* a step of T occurs, and the first can be moved to the
front: same length, and its first step is allowed.  An execution w from s to a *fault* either
contains a step of T, which is moved to the front, or any step of T can be put in front of w.  The
latter cannot go on for ever: a thread that moves away from a sticky location does so in a state in
which all threads are allowed, and every cycle of states contains such a step.  Hence some execution
that the scheduler allows shows the violation.  *Races* are faults of a program with marks.

**What a circuit cannot tell, it takes for a conflict.**  More conflicts make larger closed sets,
which are closed under the true relation as well.
- *Choices.*  What a step does may depend on what it chooses, and an attempt is all choices
  together: literals are quantified over the choices' bits.  If a footprint depends on more than
  `MOST_CHOSEN_BITS` of them, the cell counts as touched.  If "can move" depends on more than
  `outlook.MOST_QUANTIFIED`, the thread counts as one that can move and is in conflict with all: the
  closure is everyone, which is right whether or not the thread can move.
- *Steps without an end* (a loop in an atomic section, a bound of the model) are no transitions, so
  a set must not consist of them: their thread is in conflict with all.
- *Locks*: see `mazurka.symbolic.later`.

**Bounded search.**  If the allowed executions all end within k steps, the proof above has shown
that every violation is within k steps of an allowed execution: the search is complete.  If they do
not, a violation that lies k steps deep in the program may lie deeper among the allowed executions,
since steps were put in front of it.  So "no violation within k" speaks of allowed executions, and
the search calls its unit *scheduled step*.

A fault that ends the search is looked for in all threads, allowed or not, in every state that is
reached.  This finds it earlier and is no part of the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.analysis.futures import (
    RESTING,
    find_futures,
    find_pattern_locks,
    find_sticky_locations,
)
from mazurka.ir.program import DEAD_ENDS
from mazurka.symbolic.graph import FALSE, TRUE
from mazurka.symbolic.interleavings import full
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.later import LaterTouches
from mazurka.symbolic.outlook import MOST_QUANTIFIED, StepOutlook, members
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder

MOST_CHOSEN_BITS = 4
"""The most bits of choices over which a footprint is worked out."""

Matrix = list[list[int]]
"""By two threads a literal."""


def build_frame(encoder: StepEncoder, *, patterns: bool) -> Frame:
    """`patterns`: with the lock patterns of on-the-fly transactions."""
    frame = full.build_frame(encoder)
    restrict_to_stubborn_sets(frame, StubbornSets(frame, patterns=patterns).choose())
    return frame


def restrict_to_stubborn_sets(frame: Frame, cstub: list[int]) -> None:
    """Let only threads of the set move."""
    moves = [event for event in frame.events if event.fault is None]
    allowed = frame.graph.every(
        frame.graph.either(event.literal ^ 1, cstub[event.thread]) for event in moves
    )
    frame.constraint = frame.graph.both(frame.constraint, allowed)


@dataclass
class AttemptLiterals:
    """What a thread does in this state if its turn comes, whatever it chooses."""

    enabled: int = FALSE
    """Some step of it takes place, or fails."""
    alone_never: int = FALSE
    """It is in conflict with all others: it can leave a sticky location, has a step without an
    end, or is not known well enough."""
    reads: dict[int, list[int]] = field(default_factory=dict)
    """By cell the conditions under which its attempt reads it."""
    writes: dict[int, list[int]] = field(default_factory=dict)


class StubbornSets:
    """Finds which threads may be scheduled in the state before a frame."""

    def __init__(self, frame: Frame, *, patterns: bool) -> None:
        encoder = frame.encoder
        self.graph, self.before, self.records = frame.graph, frame.before, frame.records
        self.program = encoder.program
        self.outlook = StepOutlook(encoder, frame.before)
        self.futures = find_futures(self.program)
        self.sticky = find_sticky_locations(self.program)
        locks = find_pattern_locks(self.program) if patterns else frozenset[int]()
        self.later = LaterTouches(self.futures, encoder.words, frame.before, locks)
        self.threads = range(len(self.program.threads))
        self.attempts = [self.attempt(thread) for thread in self.threads]

    # --- touch-now ----------------------------------------------------------------------------

    def attempt(self, thread: int) -> AttemptLiterals:
        found = AttemptLiterals()
        for place, at in self.before.places[thread].items():
            if at != FALSE:
                self._add_place(found, thread, place, at)
        return found

    def _add_place(self, found: AttemptLiterals, thread: int, place: int, at: int) -> None:
        """Add what the thread does at one place."""
        futures, graph = self.futures, self.graph
        if place in RESTING:
            self._add_cells(found.reads, futures.now(thread, place).reads, at)
            return
        using = futures.using(thread, place)
        self._add_cells(found.reads, using.reads, at)
        self._add_cells(found.writes, using.writes, at)
        record, enabled = self.records.get((thread, place)), FALSE
        if record is not None:
            enabled = self._add_step(found, record, place, at)
        waits = graph.both(at, enabled ^ 1)
        self._add_cells(found.reads, futures.channels.waiting(thread, place).reads, waits)

    def _add_step(self, found: AttemptLiterals, record: StepRecord, place: int, at: int) -> int:
        """Add what a step does; returns whether it can be taken."""
        graph = self.graph
        endless = [record.beyond, *(record.faults.get(fault, FALSE) for fault in DEAD_ENDS)]
        wanted = [graph.some([record.moved, record.beyond, *record.faults.values()])]
        wanted.append(graph.some(endless))
        enabled, never = TRUE, TRUE
        if self.outlook.count_choice_bits(record, place, wanted) <= MOST_QUANTIFIED:
            enabled, never = self.outlook.quantify(record, place, wanted)
        if place in self.sticky[record.thread]:
            never = graph.either(never, enabled)
        found.enabled = graph.either(found.enabled, graph.both(at, enabled))
        found.alone_never = graph.either(found.alone_never, graph.both(at, never))
        for touched, recorded in ((found.reads, record.reads), (found.writes, record.writes)):
            for cell, conditions in recorded.items():
                if not self.futures.channels.cells >> cell & 1:
                    condition = self._find_touched(record, place, graph.some(conditions))
                    touched.setdefault(cell, []).append(graph.both(at, condition))
        return enabled

    def _find_touched(self, record: StepRecord, place: int, condition: int) -> int:
        """Whether a step touches a cell, with some choice."""
        if self.outlook.count_choice_bits(record, place, [condition]) > MOST_CHOSEN_BITS:
            return TRUE
        return self.outlook.quantify(record, place, [condition])[0]

    @staticmethod
    def _add_cells(found: dict[int, list[int]], cells: int, condition: int) -> None:
        if condition != FALSE:
            for cell in members(cells):
                found.setdefault(cell, []).append(condition)

    # --- conflict -----------------------------------------------------------------------------

    def conflict(self, one: int, other: int) -> int:
        """Whether the other thread might be the first to interfere with what this one does."""
        graph, attempt = self.graph, self.attempts[one]
        disturbs = graph.choose(
            attempt.enabled,
            graph.some(self._find_interferences(one, other)),
            graph.some(self._find_helps(one, other)),
        )
        return graph.either(attempt.alone_never, disturbs)

    def _find_interferences(self, one: int, other: int) -> list[int]:
        """Step 2(b)i: by cell, that an enabled step and what the other may do are dependent."""
        attempt, found = self.attempts[one], []
        for cell, conditions in attempt.reads.items():
            later = self.later.find(other, cell, holder=one, only_writes=True)
            found.append(self.graph.both(self.graph.some(conditions), later))
        for cell, conditions in attempt.writes.items():
            later = self.later.find(other, cell, holder=one)
            found.append(self.graph.both(self.graph.some(conditions), later))
        return found

    def _find_helps(self, one: int, other: int) -> list[int]:
        """Step 2(a)ii: by cell, that the other may write what a blocked attempt has read."""
        return [
            self.graph.both(
                self.graph.some(conditions), self.later.find(other, cell, only_writes=True)
            )
            for cell, conditions in self.attempts[one].reads.items()
        ]

    # --- closure, and the least one -------------------------------------------------------------

    def close(self) -> Matrix:
        """The closures J_i: whether thread j is in that of thread i (Warshall's algorithm)."""
        graph, threads = self.graph, self.threads
        reach = [
            [TRUE if one == other else self.conflict(one, other) for other in threads]
            for one in threads
        ]
        for middle in threads:
            for one in threads:
                for other in threads:
                    if one != other and middle not in (one, other):
                        around = graph.both(reach[one][middle], reach[middle][other])
                        reach[one][other] = graph.either(reach[one][other], around)
        return reach

    def choose(self) -> list[int]:
        """The vector cstub: by thread whether it is in the closure with the fewest threads that
        can move, begun with one that can; of several such, that of the first thread."""
        if self.futures.observers_meddle:
            return [TRUE for _ in self.threads]
        graph, reach = self.graph, self.close()
        enabled = [attempt.enabled for attempt in self.attempts]
        sizes = [
            self._count([graph.both(inside, enabled[n]) for n, inside in enumerate(row)])
            for row in reach
        ]
        best = [
            graph.every(
                [
                    enabled[one],
                    *(
                        graph.either(
                            enabled[other] ^ 1,
                            self._is_less(sizes[one], sizes[other])
                            if other < one
                            else self._is_less(sizes[other], sizes[one]) ^ 1,
                        )
                        for other in self.threads
                        if other != one
                    ),
                ]
            )
            for one in self.threads
        ]
        return [
            graph.some(graph.both(best[one], reach[one][other]) for one in self.threads)
            for other in self.threads
        ]

    def _count(self, literals: list[int]) -> list[int]:
        """How many literals hold, in unary: the n-th result says that more than n do."""
        graph, found = self.graph, list[int]()
        for literal in literals:
            below = [TRUE, *found]
            found = [
                graph.either(more, graph.both(literal, fewer))
                for more, fewer in zip([*found, FALSE], below, strict=True)
            ]
        return found

    def _is_less(self, first: list[int], second: list[int]) -> int:
        """Whether one unary number is less than another one."""
        pairs = zip(first, second, strict=True)
        return self.graph.some(self.graph.both(less ^ 1, more) for less, more in pairs)
