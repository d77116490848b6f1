"""One step a frame, of a thread in a conditional stubborn set: paper 004's reduced scheduler.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006), section 4.2.  The scheduler of the full interleaving is kept,
and a constraint says which threads it may choose in a state.

| paper | here |
|---|---|
| execute_i | the number among the inputs is i (`mazurka.symbolic.interleavings.full`) |
| R = some i: execute_i and cstub_i and R_i | `restrict_to_stubborn_sets` |
| touch-now(T_i, x) | `AttemptLiterals.reads`, `writes`, `static` |
| touch-now-later(T_j, x), -LS; lockPred, CLP | `mazurka.symbolic.later` |
| conflict_i(j) | `StubbornSets.conflict` |
| sticky(pc_i) | part of `AttemptLiterals.alone_never` |
| J_i, the closure of {i} | `StubbornSets.close` |
| min, cstub | `StubbornSets.choose` |
| the scheduler with partial orders alone; with transactions | `patterns=False`; `True`, which \
`mazurka.symbolic.interleavings.transactions` uses |

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
  `MOST_CHOSEN_BITS` of them, the cell counts as touched.  If "can move" cannot be quantified
  (`StepOutlook.try_to_quantify`), the thread counts as one that can move and is in conflict with
  all: the closure is everyone, which is right whether or not the thread can move.
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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mazurka.analysis.futures import (
    RESTING,
    find_futures,
    find_pattern_locks,
    find_sticky_locations,
)
from mazurka.deadline import check_time
from mazurka.ir.program import DEAD_ENDS
from mazurka.symbolic.circuit import StepEvent
from mazurka.symbolic.graphs.graph import FALSE, TRUE
from mazurka.symbolic.interleavings import full
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.later import CellsAsked, LaterTouches
from mazurka.symbolic.outlook import StepOutlook, members
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder

PHASE = "encoding the scheduler"
MOST_CHOSEN_BITS = 4
"""The most bits of choices over which a footprint is worked out."""

Matrix = list[list[int]]
"""By two threads a literal."""


def build_frame(encoder: StepEncoder) -> Frame:
    frame = full.build_frame(encoder)
    moves = [event for event in frame.events if event.fault is None]
    restrict_to_stubborn_sets(frame, StubbornSets(frame, patterns=False).choose(), moves)
    return frame


def restrict_to_stubborn_sets(
    frame: Frame, cstub: Sequence[int], moves: Sequence[StepEvent]
) -> None:
    """Let only threads of the set make one of these moves."""
    allowed = frame.graph.every(
        frame.graph.either(event.literal ^ 1, cstub[event.thread]) for event in moves
    )
    frame.constraint = frame.graph.both(frame.constraint, allowed)


Conditions: TypeAlias = dict[int, list[int]]
"""By literal the places of a thread: it is at one of them, and the literal holds."""


@dataclass
class AttemptLiterals:
    """What a thread does in this state if its turn comes, whatever it chooses."""

    enabled: Conditions = field(default_factory=dict)
    """Some step of it takes place, or fails."""
    alone_never: Conditions = field(default_factory=dict)
    """It is in conflict with all others: it can leave a sticky location, has a step without an
    end, or is not known well enough."""
    reads: dict[int, Conditions] = field(default_factory=dict)
    """By cell when its attempt reads it, where that depends on more than where the thread is."""
    writes: dict[int, Conditions] = field(default_factory=dict)
    static: dict[int, StaticTouches] = field(default_factory=dict)
    """By place what the thread touches there in any case."""

    def group_places(self) -> dict[StaticTouches, frozenset[int]]:
        """The places at which the same is touched."""
        groups: dict[StaticTouches, list[int]] = {}
        for place, touches in self.static.items():
            groups.setdefault(touches, []).append(place)
        return {touches: frozenset(places) for touches, places in groups.items()}

    def list_conditions(self) -> list[Conditions]:
        return [self.enabled, self.alone_never, *self.reads.values(), *self.writes.values()]


class StaticTouches(NamedTuple):
    """Sets of cells, a bit a cell."""

    reads: int = 0
    writes: int = 0


class StubbornSets:
    """Finds which threads may be scheduled in the state before a frame."""

    def __init__(self, frame: Frame, *, patterns: bool) -> None:
        """`patterns`: with the lock patterns of on-the-fly transactions."""
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
        self.later.prepare(self._find_questions())
        for sets, attempt in zip(self.later.sets, self.attempts, strict=True):
            groups = list(attempt.group_places().values())
            groups += [frozenset(at) for each in attempt.list_conditions() for at in each.values()]
            sets.prepare(groups)
        self.enabled = [self._say(n, each.enabled) for n, each in enumerate(self.attempts)]

    def _say(self, thread: int, conditions: Conditions) -> int:
        """That one of the conditions holds."""
        sets = self.later.sets[thread]
        return self.graph.some(
            self.graph.both(sets.find(frozenset(places)), literal)
            for literal, places in conditions.items()
        )

    def _find_questions(self) -> Iterator[tuple[int, CellsAsked]]:
        """What is asked of threads' later steps, in the enabled case."""
        for one, attempt in enumerate(self.attempts):
            for other in self.threads:
                if other != one:
                    yield from ((other, CellsAsked(1 << cell, 0)) for cell in attempt.reads)
                    yield from ((other, CellsAsked(0, 1 << cell)) for cell in attempt.writes)
                    yield from ((other, CellsAsked(*each)) for each in attempt.group_places())

    # --- touch-now ----------------------------------------------------------------------------

    def attempt(self, thread: int) -> AttemptLiterals:
        found = AttemptLiterals()
        for place, at in self.before.places[thread].items():
            if at != FALSE:
                self._add_place(found, thread, place)
        return found

    def _add_place(self, found: AttemptLiterals, thread: int, place: int) -> None:
        """Add what the thread does at one place."""
        check_time(PHASE)
        futures = self.futures
        if place in RESTING:
            found.static[place] = StaticTouches(futures.now(thread, place).reads)
            return
        using = futures.using(thread, place)
        found.static[place] = StaticTouches(using.reads, using.writes)
        record, enabled = self.records.get((thread, place)), FALSE
        if record is not None:
            enabled = self._add_step(found, record, place)
        for cell in members(futures.channels.waiting(thread, place).reads):
            self._add(found.reads.setdefault(cell, {}), enabled ^ 1, place)

    def _add_step(self, found: AttemptLiterals, record: StepRecord, place: int) -> int:
        """Add what a step does; returns whether it can be taken."""
        graph = self.graph
        endless = [record.beyond, *(record.faults.get(fault, FALSE) for fault in DEAD_ENDS)]
        wanted = [record.acts, graph.some(endless)]
        quantified = self.outlook.try_to_quantify(record, wanted)
        enabled, never = quantified or (TRUE, TRUE)
        if place in self.sticky[record.thread]:
            never = graph.either(never, enabled)
        self._add(found.enabled, enabled, place)
        self._add(found.alone_never, never, place)
        touched = self._find_touched(record)
        reads = self._add_touched(found.reads, record.reads, touched, place, TRUE)
        writes = self._add_touched(found.writes, record.writes, touched, place, enabled)
        known = found.static[place]
        found.static[place] = StaticTouches(known.reads | reads, known.writes | writes)
        return enabled

    def _add_touched(
        self,
        found: dict[int, Conditions],
        recorded: dict[int, list[int]],
        touched: dict[int, int],
        place: int,
        given: int,
    ) -> int:
        """Add under which conditions a step touches cells; returns those that it touches in any
        case where `given` holds.  (What is written matters only while the step can be taken.)"""
        static = 0
        for cell, conditions in recorded.items():
            if self.futures.channels.cells >> cell & 1:
                continue
            condition = touched[self.graph.some(conditions)]
            if condition in (TRUE, given):
                static |= 1 << cell
            else:
                self._add(found.setdefault(cell, {}), condition, place)
        return static

    @staticmethod
    def _add(found: Conditions, condition: int, place: int) -> None:
        if condition != FALSE:
            found.setdefault(condition, []).append(place)

    def _find_touched(self, record: StepRecord) -> dict[int, int]:
        """By condition under which a step touches a cell, whether it holds with some choice."""
        recorded = (*record.reads.values(), *record.writes.values())
        found = {each: each for each in map(self.graph.some, recorded)}
        few = []
        for condition in found if record.choices else ():
            many = self.outlook.count_choice_bits(record, [condition])
            if many > MOST_CHOSEN_BITS:
                found[condition] = TRUE
            elif many:
                few.append(condition)
        quantified = self.outlook.try_to_quantify(record, few)
        if quantified is None:  # they are too many to work out together
            quantified = [self.outlook.quantify(record, [each])[0] for each in few]
        return {**found, **dict(zip(few, quantified, strict=True))}

    # --- conflict -----------------------------------------------------------------------------

    def conflict(self, one: int, other: int) -> int:
        """Whether the other thread might be the first to interfere with what this one does."""
        check_time(PHASE)
        helps = self.graph.some(self._find_helps(one, other))
        waiting = self.graph.either(self._say(one, self.attempts[one].alone_never), helps)
        return self.graph.choose(self.enabled[one], self.disturb(one, other), waiting)

    def disturb(self, one: int, other: int) -> int:
        """The same where this thread can move."""
        interferes = self.graph.some(self._find_interferences(one, other))
        return self.graph.either(self._say(one, self.attempts[one].alone_never), interferes)

    def _find_interferences(self, one: int, other: int) -> list[int]:
        """Step 2(b)i: that an enabled step and what the other may do are dependent."""
        attempt, found = self.attempts[one], []
        for cell, conditions in attempt.reads.items():
            later = self.later.find(other, CellsAsked(1 << cell, 0), holder=one)
            found.append(self.graph.both(self._say(one, conditions), later))
        for cell, conditions in attempt.writes.items():
            later = self.later.find(other, CellsAsked(0, 1 << cell), holder=one)
            found.append(self.graph.both(self._say(one, conditions), later))
        return found + self._find_static(
            one,
            {
                places: self.later.find(other, CellsAsked(*touches), holder=one)
                for touches, places in attempt.group_places().items()
            },
        )

    def _find_helps(self, one: int, other: int) -> list[int]:
        """Step 2(a)ii: that the other may write what a blocked attempt has read."""
        attempt = self.attempts[one]
        return [
            self.graph.both(
                self._say(one, conditions), self.later.find(other, CellsAsked(1 << cell, 0))
            )
            for cell, conditions in attempt.reads.items()
        ] + self._find_static(
            one,
            {
                places: self.later.find(other, CellsAsked(touches.reads, 0))
                for touches, places in attempt.group_places().items()
            },
        )

    def _find_static(self, thread: int, disturbed: dict[frozenset[int], int]) -> list[int]:
        """That a thread is at one of some places where the literal of these holds."""
        together: dict[int, frozenset[int]] = {}
        for places, literal in disturbed.items():
            together[literal] = together.get(literal, frozenset()) | places
        sets = self.later.sets[thread]
        return [self.graph.both(sets.find(at), literal) for literal, at in together.items()]

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
        if len(self.threads) == 2:
            return self._choose_of_two()
        graph, reach = self.graph, self.close()
        enabled = self.enabled
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

    def _choose_of_two(self) -> list[int]:
        """The same of two threads, as far as they can move: if one of them cannot, the other one
        is not kept from moving, whatever the sets are."""
        graph, (first, second) = self.graph, self.enabled
        stops_first, stops_second = self.disturb(0, 1), self.disturb(1, 0)
        return [
            graph.some([second ^ 1, stops_first ^ 1, stops_second]),
            graph.either(first ^ 1, stops_first),
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
