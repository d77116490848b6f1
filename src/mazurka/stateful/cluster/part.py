"""One worker's part of the states: the Python side of `mazurka.stateful.kernels.partition`.

It knows nothing of the other workers but their number.  Whoever leads the search
(`mazurka.stateful.cluster.search`) has it expand its states of a level piece by piece, brings it
the states that others have found, and says when the next level begins.

At first all states belong to the first part, whose worker goes from level to level by itself.  It
hands out what it has found (`hand_out`) when a level is large; all workers then begin with their
share (`take_over`), as if they had been there from the beginning.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mazurka.compiled.cache import kernel
from mazurka.compiled.memory import Area
from mazurka.errors import InternalError
from mazurka.ir.native.layout import Layout
from mazurka.ir.program import Program
from mazurka.search import Move, SearchOptions, Silent
from mazurka.search.resources import default_limit_bytes
from mazurka.stateful import blocks
from mazurka.stateful.cluster.placement import Observed, Placement, choose_placement
from mazurka.stateful.compiled.store import Store
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.quotient import code_for
from mazurka.version import __version__

Batch = npt.NDArray[np.uint64]
"""Packed states, one behind the other."""

OUT_ROOM = 1 << 19
"""How many states for another part are collected before they are sent."""
SENT_ROOM = 1 << 18
"""How many states that were sent are remembered at most; a power of two."""
SMALL_SHARE = 8
"""Outboxes and what was sent take at most one part in so many of the memory each."""
CROWDED_SHARE = 4
"""A worker that is alone asks for others when it has used one part in so many of its memory."""
FINDING_ROOM = 1 << 10
SAMPLED_STATES, SAMPLED_SOURCES, SAMPLED_STEPS = 1 << 13, 1 << 11, 1 << 13
"""Of how many states a placement is chosen, from how many steps are tried, and how many of these
are looked at."""


@dataclass(frozen=True)
class PartShare:
    """What a part begins with: states in the order of their levels."""

    levels: tuple[int, ...]
    """How many states there are of each level; those of the last one have not been expanded."""
    states: Batch


@dataclass(frozen=True)
class PartOptions:
    """What a worker is asked.  Unlike `SearchOptions` it can be sent."""

    properties: frozenset[str]
    symmetry: bool
    limit_bytes: int | None
    """What all parts may have together; None: what their machines can spare."""
    parts: int = 1
    neighbours: int = 1
    """How many of the parts are on the same machine, this one included."""

    def for_search(self) -> SearchOptions:
        return SearchOptions(properties=self.properties, symmetry=self.symmetry, order="bfs")

    def share_bytes(self) -> int:
        """The memory for one part."""
        if self.limit_bytes is not None:
            return self.limit_bytes // self.parts
        return default_limit_bytes() // self.neighbours


@dataclass(frozen=True)
class PartFinding:
    """What was found in a state: FAULT, STUCK, QUIET or RACE."""

    kind: int
    words: tuple[int, ...]
    move: Move


@dataclass(frozen=True)
class PartReport:
    """How far a part has come."""

    serial: int
    """How many reports of this part there were before."""
    level: int
    """The level that was begun last."""
    known: int
    """How many states there are of the levels up to this one."""
    states: int
    transitions: int
    expanded: int
    left: int
    """How many states of the level have not been expanded."""
    sent: tuple[int, ...]
    """How many states this part has ever sent to each of the others."""
    received: int
    """How many have ever come."""
    ends: int
    is_crowded: bool
    """Whether much of the memory is used up."""
    out_of_memory: bool
    table_bytes: int
    other_bytes: int
    peak_bytes: int
    findings: tuple[PartFinding, ...] = ()


def describe_layout(layout: Layout) -> str:
    """What must be the same wherever states of a program are packed."""
    return f"mazurka {__version__}, {sys.byteorder} endian, {layout.slots!r}"


class StatePart:
    """The states of one part, and the search among them."""

    def __init__(self, program: Program, options: PartOptions, number: int) -> None:
        native = code_for(program, options.for_search())
        self.view = view = ProgramView(native, options.for_search())
        self.layout, self.numbers = native.layout, view.block.numbers
        self.words = self.layout.words
        self.parts = options.parts
        self.limit_bytes = options.share_bytes()
        self.kernel = kernel("partition", Silent())
        self.begin_anew()
        self.placement: Placement | None = None
        """None: all states belong to the first part."""
        self.found = False
        """Whether something was found in the level."""
        self.sent = [0] * self.parts
        self.received = 0
        self.reports = 0
        self.most = most = sum(max(bounds) for bounds in self.layout.choices)
        self.numbers[blocks.PART], self.numbers[blocks.PARTS] = number, self.parts
        self.numbers[blocks.MOST_SUCCESSORS] = most
        view.keep(blocks.BUFFER, Area(most * (self.words + blocks.SUCCESSOR_WORDS)))
        view.keep(blocks.TARGET, Area(self.words))
        view.keep(blocks.OWNERS_AT, Area(most))
        self.numbers[blocks.FINDING_ROOM] = FINDING_ROOM + most + 3
        room = self.numbers[blocks.FINDING_ROOM]
        view.keep(blocks.FINDINGS, Area(room * blocks.FINDING_WORDS))
        self.make_outboxes()
        self.began = time.process_time()

    def begin_anew(self) -> None:
        """Forget all states."""
        self.store = Store(
            self.view.block,
            self.words,
            inline=False,
            limit_bytes=self.limit_bytes,
            observer=Silent(),
        )
        self.numbers[blocks.SIZE] = 0
        self.levels = [0]
        """Where levels begin in the log; the last number is the end of the last level begun."""

    def make_outboxes(self) -> None:
        """Room for states of other parts, and for what is remembered of those that were sent."""
        affordable = self.limit_bytes // (SMALL_SHARE * 8 * self.words)
        room = min(OUT_ROOM, affordable) // self.parts + self.most
        own = self.numbers[blocks.PART]
        self.outboxes = [Area(room * self.words if n != own else 1) for n in range(self.parts)]
        self.view.keep(blocks.OUTBOXES, Area.of(area.address for area in self.outboxes))
        self.view.keep(blocks.OUT_COUNTS, Area(self.parts))
        self.numbers[blocks.OUT_ROOM] = room
        entry = self.words + blocks.SENT_STATE
        capacity = SENT_ROOM
        while capacity > 1 and 8 * capacity * entry > self.limit_bytes // SMALL_SHARE:
            capacity //= 2
        self.view.keep(blocks.SENT, Area(capacity * entry, scattered=True))
        self.numbers[blocks.SENT_CAPACITY] = capacity
        self.most_sent_bytes = 8 * (capacity * entry + sum(area.length for area in self.outboxes))

    def describe(self) -> str:
        return describe_layout(self.layout)

    def processor_seconds(self) -> float:
        """What the search has taken of a processor."""
        return time.process_time() - self.began

    # --- the jobs -----------------------------------------------------------------------------

    def begin(self) -> PartReport:
        """Store the initial state if it belongs to this part."""
        if self.numbers[blocks.PART] == 0:
            initial = np.array(self.layout.pack(self.layout.program.initial_state()), np.uint64)
            self.store_batch(initial)
        return self.report()

    def expand(self, level: int, budget: int, hang_wanted: bool, large: int) -> list[Any]:
        """Expand states of a level; a report, and a batch for each part.

        Comes back after about `budget` transitions, or when batches are full.  The batches are
        overwritten by the next call.

        A worker that is alone goes on to further levels, as long as nothing was found, and, if
        there are other workers, none is `large`."""
        numbers, counts = self.numbers, self.view.kept[blocks.OUT_COUNTS].words
        if level == self.level + 1:
            self.begin_level()
        elif level != self.level:
            raise InternalError(f"a part is asked for level {level} after {self.level}")
        if blocks.WALK in self.view.kept:
            numbers[blocks.HANG_WANTED] = hang_wanted
        for part in range(self.parts):
            counts[part] = 0
        last = numbers[blocks.TRANSITIONS] + budget
        reason = self.expand_level(last)
        findings = self.take_findings()
        self.found |= bool(findings)
        while reason == blocks.DONE and not self.found and self.goes_on_alone(large):
            self.begin_level()
            reason = self.expand_level(last)
            findings = self.take_findings()
            self.found = bool(findings)
        batches = [self.outbox(part, counts[part]) for part in range(self.parts)]
        for part, batch in enumerate(batches):
            self.sent[part] += len(batch) // self.words
        memory = reason != blocks.STORE_FULL
        return [self.report(out_of_memory=not memory, findings=findings), *batches]

    @property
    def level(self) -> int:
        """The level that was begun last, -1 before the first one."""
        return len(self.levels) - 2

    def begin_level(self) -> None:
        self.numbers[blocks.POSITION] = self.levels[-1]
        self.numbers[blocks.END] = self.store.size
        self.levels.append(self.store.size)
        self.found = False

    def goes_on_alone(self, large: int) -> bool:
        """Whether the next level can be begun without asking anybody."""
        size = self.store.size - self.levels[-1]
        if self.placement is not None or size == 0:
            return False
        return self.parts == 1 or (size < large and not self.is_crowded)

    @property
    def is_crowded(self) -> bool:
        return self.store.used_bytes() + self.other_bytes() > self.limit_bytes // CROWDED_SHARE

    def expand_level(self, last: int) -> int:
        """Expand states until there were so many transitions; why it stopped."""
        numbers = self.numbers
        numbers[blocks.JOB] = blocks.JOB_EXPAND_PART
        while True:
            numbers[blocks.BUDGET] = max(last - numbers[blocks.TRANSITIONS], 0)
            reason = self.kernel(self.view.block.address)
            if reason == blocks.STORE_FULL and self.grow():
                continue
            if reason == blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            elif reason == blocks.WALK_FULL:
                self.view.lengthen_walks()
            else:
                return reason

    def receive(self, *batches: Batch) -> PartReport:
        """Store states that other parts have found."""
        memory = True
        for batch in batches:
            memory = memory and self.store_batch(batch)
            self.received += len(batch) // self.words
        return self.report(out_of_memory=not memory)

    def store_batch(self, batch: Batch) -> bool:
        """Store states; whether there was memory for all."""
        numbers = self.numbers
        numbers[blocks.JOB] = blocks.JOB_RECEIVE
        numbers[blocks.INBOX] = batch.ctypes.data
        numbers[blocks.INBOX_COUNT], numbers[blocks.INBOX_READ] = len(batch) // self.words, 0
        while True:
            reason = self.kernel(self.view.block.address)
            if reason == blocks.MISSENT:
                raise InternalError("a state was sent to a part that it does not belong to")
            if reason == blocks.DONE:
                return True
            if not self.grow():
                return False

    # --- sharing out --------------------------------------------------------------------------

    def hand_out(self) -> list[Any]:
        """Choose who is to have which states; the placement, and a share for each part."""
        states = self.all_states()
        placement = self.choose_placement(states)
        owners = placement.find_owners(states)
        ends = [*self.levels[1:], len(states)]
        shares = []
        for part in range(self.parts):
            (places,) = np.nonzero(owners == part)
            before = np.searchsorted(places, [0, *ends]).tolist()
            sizes = [end - start for start, end in pairwise(before)]
            shares.append(PartShare(tuple(sizes), states[places].reshape(-1)))
        return [placement, *shares]

    def all_states(self) -> Batch:
        """The log as rows."""
        words = np.frombuffer(self.store.log.words, np.uint64, self.store.size * self.words)
        return words.reshape(-1, self.words)

    def choose_placement(self, states: Batch) -> Placement:
        """Choose by the states that have not been expanded, and what they lead to."""
        newest = states[self.levels[-1] :]
        sources = pick(newest, SAMPLED_SOURCES)
        room = SAMPLED_STEPS + self.most
        sampled = Area(room * (self.words + 1))
        self.view.keep(blocks.SAMPLED, sampled)
        numbers = self.numbers
        numbers[blocks.JOB] = blocks.JOB_SAMPLE
        numbers[blocks.INBOX], numbers[blocks.INBOX_COUNT] = sources.ctypes.data, len(sources)
        numbers[blocks.SAMPLED_ROOM], numbers[blocks.SAMPLED_COUNT] = room, 0
        self.kernel(self.view.block.address)
        count = numbers[blocks.SAMPLED_COUNT] * (self.words + 1)
        steps = np.frombuffer(sampled.words, np.uint64, count).reshape(-1, self.words + 1)
        seen = Observed(
            states=pick(newest, SAMPLED_STATES),
            sources=sources[steps[:, 0].astype(np.int64)],
            targets=steps[:, 1:],
        )
        return choose_placement(self.layout, seen, self.parts)

    def take_over(self, placement: Placement, share: PartShare) -> PartReport:
        """Begin with a share of the states, which are no longer those of the first part alone."""
        self.placement = placement
        numbers, key = self.numbers, Area(2 * len(placement.key))
        for position, word in enumerate(word for pair in placement.key for word in pair):
            key.words[position] = word
        self.view.keep(blocks.KEY, key)
        self.view.keep(blocks.KEY_OWNERS, Area.of(placement.owners))
        numbers[blocks.KEY_LENGTH] = len(placement.key)
        numbers[blocks.KEY_SHIFT] = placement.shift
        self.begin_anew()
        memory, first = True, 0
        for number, count in enumerate(share.levels):
            last = first + count * self.words
            memory = memory and self.store_batch(share.states[first:last])
            if number < len(share.levels) - 1:
                self.levels.append(self.store.size)
            first = last
        numbers[blocks.POSITION] = numbers[blocks.END] = self.levels[-1]
        return self.report(out_of_memory=not memory)

    # --- going back ---------------------------------------------------------------------------

    def go_back(self, level: int, words: Sequence[int]) -> tuple[tuple[int, ...], Move] | None:
        """A state of a level, and a move that leads from it to a given state; None if there is
        none in this part.  The worker may be in the midst of a level, and goes on there."""
        numbers = self.numbers
        here = numbers[blocks.POSITION], numbers[blocks.END]
        for offset, word in enumerate(words):
            self.view.kept[blocks.TARGET].words[offset] = word
        numbers[blocks.JOB] = blocks.JOB_GO_BACK
        numbers[blocks.POSITION], numbers[blocks.END] = self.levels[level], self.levels[level + 1]
        reason, found = self.kernel(self.view.block.address), numbers[blocks.POSITION]
        numbers[blocks.POSITION], numbers[blocks.END] = here
        if reason == blocks.DONE:
            return None
        move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
        return self.words_at(found), move

    # --- what it has --------------------------------------------------------------------------

    def grow(self) -> bool:
        return self.store.grow(self.other_bytes())

    def other_bytes(self) -> int:
        """What outboxes take, what is remembered of the states that were sent, and walks."""
        each = 8 * (2 * self.words + blocks.SENT_STATE)
        return min(each * sum(self.sent), self.most_sent_bytes) + self.view.walk_bytes()

    def outbox(self, part: int, count: int) -> Batch:
        return np.frombuffer(self.outboxes[part].words, np.uint64, count * self.words)

    def words_at(self, position: int) -> tuple[int, ...]:
        return tuple(self.store.words_at(position, self.words))

    def take_findings(self) -> tuple[PartFinding, ...]:
        words = self.view.kept[blocks.FINDINGS].words
        count, self.numbers[blocks.FINDING_COUNT] = self.numbers[blocks.FINDING_COUNT], 0
        found = []
        for start in range(0, count * blocks.FINDING_WORDS, blocks.FINDING_WORDS):
            kind, position, thread, choice = words[start : start + blocks.FINDING_WORDS]
            found.append(PartFinding(kind, self.words_at(position), Move(thread, choice)))
        return tuple(found)

    def report(
        self, *, out_of_memory: bool = False, findings: tuple[PartFinding, ...] = ()
    ) -> PartReport:
        numbers, used = self.numbers, self.store.used_bytes()
        self.reports += 1
        return PartReport(
            serial=self.reports,
            level=self.level,
            known=self.levels[-1],
            states=self.store.size,
            transitions=numbers[blocks.TRANSITIONS],
            expanded=numbers[blocks.POSITION],
            left=numbers[blocks.END] - numbers[blocks.POSITION],
            sent=tuple(self.sent),
            received=self.received,
            ends=numbers[blocks.ENDS],
            is_crowded=self.is_crowded,
            out_of_memory=out_of_memory or used + self.other_bytes() > self.limit_bytes,
            table_bytes=used,
            other_bytes=self.other_bytes(),
            peak_bytes=self.store.peak_bytes,
            findings=findings,
        )


def pick(states: Batch, most: int) -> Batch:
    """Some rows at equal distances, in one piece."""
    return np.ascontiguousarray(states[:: max(len(states) // most, 1)][:most])
