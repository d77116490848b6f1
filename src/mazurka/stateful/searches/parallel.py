"""Breadth-first search by several workers: the Python side of `mazurka.stateful.kernels.parallel`.

The workers are threads of this process.  A kernel needs no lock of Python's, so they really run at
the same time; between two slices, when all have come back, Python does the rest: it grows the
table, looks at what was found, and goes from level to level.

**The same answer for any number of workers.**  A level is the set of states at one distance from
the initial state, whoever finds them.  So the states, the transitions and the verdict of a complete
search are those of one worker, and what is reported of a level does not depend on the timing
(`mazurka.stateful.searches.levels`).

**Small searches** are left to one worker: the others would hardly have begun.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.compiled.store import Store
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.searches.breadth_first import ORIGIN_BYTES, origin_in
from mazurka.stateful.searches.conduct import SLICE_TRANSITIONS
from mazurka.stateful.searches.kernel_search import GROWTH, KernelSearch
from mazurka.stateful.searches.levels import LevelConductor

LONGER_SLICE = 4
"""Coming together takes time, so slices are longer than those of one worker by this factor."""
SMALL_LEVEL = blocks.SMALL_LEVEL
"""A search all of whose levels have fewer states is left to one worker."""
FIRST_CAPACITY, EARLY_CAPACITY = 1 << 12, 1 << 18
"""Slots of the table at first, and, for each worker, when several begin."""
MANY_WORKERS = 4
"""From so many workers on the table becomes four times as large: growing it stops them all."""
FINDING_ROOM = 1 << 10
"""How many findings a worker may have before Python looks at them, beside those of one state."""
MOST_POSITIONS = (1 << 40) - 2
"""Positions have 40 bits in a slot, and the last of them says that the slot is claimed."""


class LevelWorker:
    """A block of its own, with room for what the worker makes and finds."""

    def __init__(self, view: ProgramView, number: int, most: int) -> None:
        """`most`: how many successors a state can have."""
        self.view = view
        self.wanted, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.dismissed = False
        self.reason = blocks.DONE
        """Why the kernel has stopped the last time."""
        self.numbers = view.block.numbers
        self.numbers[blocks.WORKER] = number
        self.numbers[blocks.JOB] = blocks.JOB_EXPAND
        self.numbers[blocks.MOST_SUCCESSORS] = most
        self.numbers[blocks.FINDING_ROOM] = FINDING_ROOM + most + 3
        words = view.layout.words + blocks.SUCCESSOR_WORDS
        view.keep(blocks.BUFFER, Area(most * words))
        view.keep(blocks.FINDINGS, Area(self.numbers[blocks.FINDING_ROOM] * blocks.FINDING_WORDS))

    def serve(self, kernel: Callable[[int], int]) -> None:
        """Run the kernel whenever that is wanted, until the search is over."""
        while True:
            self.wanted.acquire()
            if self.dismissed:
                return
            self.reason = kernel(self.view.block.address)
            self.done.release()

    def take_findings(self) -> Iterator[tuple[int, int, Move]]:
        """Take all that was found: kind, position, move."""
        words = self.view.kept[blocks.FINDINGS].words
        count, self.numbers[blocks.FINDING_COUNT] = self.numbers[blocks.FINDING_COUNT], 0
        for start in range(0, count * blocks.FINDING_WORDS, blocks.FINDING_WORDS):
            kind, position, thread, choice = words[start : start + blocks.FINDING_WORDS]
            yield kind, position, Move(thread, choice)


class SharedStore(Store):
    """A store whose log has a segment for each worker, any of which could hold all states."""

    def __init__(
        self,
        workers: Sequence[LevelWorker],
        words: int,
        enter: Callable[[], None],
        *,
        limit_bytes: int,
        reserved_bytes: int,
        observer: Observer,
    ) -> None:
        """`enter` has each worker enter the states of its segment in the table."""
        self.workers = workers
        self.enter = enter
        self.least = 0
        """How many slots the table is to have, when several workers begin."""
        super().__init__(
            workers[0].view.block,
            words,
            inline=False,
            limit_bytes=limit_bytes,
            reserved_bytes=len(workers) * reserved_bytes,
            observer=observer,
            capacity=FIRST_CAPACITY,
        )
        self.tell(blocks.SEGMENT, min(self.log.length // words, MOST_POSITIONS) // len(workers))

    def tell(self, position: int, value: int) -> None:
        for worker in self.workers:
            worker.numbers[position] = value

    @property
    def size(self) -> int:
        return sum(worker.numbers[blocks.SIZE] for worker in self.workers)

    def fill_up_to(self, load: float) -> None:
        self.full_at = int(self.table.length * load)
        self.share_out()

    def share_out(self) -> bool:
        """Divide the room in the table, and the memory for states, among the workers; whether
        there is any to speak of."""
        most, left = self.workers[0].numbers[blocks.MOST_SUCCESSORS], self.full_at - self.size
        free = self.limit_bytes - self.used_bytes() - self.size * ORIGIN_BYTES
        affordable = max(free // (8 * self.words + ORIGIN_BYTES), 0)
        spare = min(left, affordable) // len(self.workers)
        for worker in self.workers:
            most_there = worker.numbers[blocks.SEGMENT] or spare
            worker.numbers[blocks.FULL_AT] = min(worker.numbers[blocks.SIZE] + spare, most_there)
        return spare > most and (affordable < left or left > self.full_at // 4)

    def growth(self) -> int:
        if self.table.length < self.least:
            return self.least // self.table.length
        return 4 if len(self.workers) >= MANY_WORKERS else 2

    def enter_states(self, old: Area) -> None:
        self.enter()


class ParallelSearch(KernelSearch):
    kernel_name = "parallel"

    def __init__(
        self, native: NativeProgram, options: SearchOptions, observer: Observer, workers: int
    ) -> None:
        views = [ProgramView(native, options) for _ in range(workers)]
        most = sum(max(bounds) for bounds in native.layout.choices)
        self.workers = [LevelWorker(view, number, most) for number, view in enumerate(views)]
        super().__init__(views[0], options, observer)
        self.origins = Area(self.store.log.length // self.record_words, scattered=True)
        self.ranges = Area(workers * blocks.RANGE_WORDS)
        self.meeting = Area(blocks.MEETING_WORDS)
        self.store.tell(blocks.WORKERS, workers)
        self.store.tell(blocks.ORIGINS, self.origins.address)
        self.store.tell(blocks.RANGES, self.ranges.address)
        self.store.tell(blocks.MEETING, self.meeting.address)
        self.segment = self.numbers[blocks.SEGMENT]
        self.at_work = self.workers[:1]
        """The workers that search: one, until levels are large enough to be shared out."""

    def make_conductor(self, options: SearchOptions, observer: Observer) -> LevelConductor:
        return LevelConductor(self.view.native, options, observer)

    def make_store(self, observer: Observer, *, inline: bool) -> Store:
        return SharedStore(
            self.workers,
            self.record_words,
            lambda: self.all_do(blocks.JOB_ENTER),
            limit_bytes=self.conductor.limit_bytes,
            reserved_bytes=self.limit_bytes,
            observer=observer,
        )

    # --- the workers --------------------------------------------------------------------------

    def run(self) -> SearchResult:
        threads = [
            threading.Thread(target=worker.serve, args=(self.kernel,), daemon=True)
            for worker in self.workers[1:]
        ]
        for thread in threads:
            thread.start()
        try:
            self.begin()
            return super().run()
        finally:
            for worker in self.workers[1:]:
                worker.dismissed = True
                worker.wanted.release()
            for thread in threads:
                thread.join()

    def begin(self) -> None:
        """Put the initial state into the store."""
        initial = self.layout.pack(self.layout.program.initial_state())
        for offset, word in enumerate(initial):
            self.view.kept[blocks.BUFFER].words[offset] = word
        self.numbers[blocks.JOB] = blocks.JOB_START
        self.kernel(self.view.block.address)
        self.numbers[blocks.JOB] = blocks.JOB_EXPAND
        self.next_level()

    def all_do(self, job: int) -> None:
        """Have all workers do something else than expanding, and wait for them."""
        self.store.tell(blocks.JOB, job)
        self.call(self.workers)
        self.store.tell(blocks.JOB, blocks.JOB_EXPAND)

    def call(self, workers: Sequence[LevelWorker]) -> list[int]:
        """Let workers run, the first of them in this thread; why each has stopped."""
        self.meeting.words[blocks.MEETING_CALLED_BACK] = 0
        self.meeting.words[blocks.MEETING_ARRIVED] = 0
        self.store.tell(blocks.AT_WORK, len(workers))
        for worker in workers[1:]:
            worker.wanted.release()
        first = self.kernel(workers[0].view.block.address)
        for worker in workers[1:]:
            worker.done.acquire()
        return [first, *(worker.reason for worker in workers[1:])]

    # --- slices -------------------------------------------------------------------------------

    def slice(self, budget: int) -> bool:
        if self.conductor.limit_seconds is not None or self.conductor.options.limit_transitions:
            budget = budget // len(self.at_work) + 1
        elif len(self.at_work) > 1:
            budget = SLICE_TRANSITIONS * LONGER_SLICE
        self.store.tell(blocks.BUDGET, budget)
        reasons = self.call(self.at_work)
        self.look_at_findings()
        self.count()
        for worker, reason in zip(self.at_work, reasons, strict=True):
            self.help(worker, reason)
        if blocks.STORE_FULL in reasons:
            return self.make_room()
        if all(reason == blocks.DONE for reason in reasons):
            return self.next_level()
        return False

    def help(self, worker: LevelWorker, reason: int) -> None:
        """Give a worker what it has stopped for, if that is its own."""
        if reason == blocks.FOOTPRINT_FULL:
            worker.view.lengthen_footprint()
        elif reason == blocks.WALK_FULL:
            worker.view.lengthen_walks()

    def make_room_for_all(self) -> None:
        """Grow the table beforehand: whoever finds it full stops everybody."""
        store = self.store
        assert isinstance(store, SharedStore)
        store.least = 1 << (len(self.workers) * EARLY_CAPACITY - 1).bit_length()
        while store.table.length < store.least and self.grow_store():
            pass

    def make_room(self) -> bool:
        """Divide the table's room anew, or grow it; whether the search is over."""
        store, conductor = self.store, self.conductor
        assert isinstance(store, SharedStore)
        if store.share_out():
            return False
        if not conductor.has_time(GROWTH * store.growing_seconds * store.growth() / 2):
            return conductor.out_of("time")
        return not self.grow_store() and conductor.out_of_memory()

    def next_level(self) -> bool:
        """Go on to the states found last; whether the search is over.

        Most levels are begun by the workers themselves, in the same way."""
        assert isinstance(self.conductor, LevelConductor)
        if self.conductor.settle():
            return True
        states, ranges = 0, self.ranges.words
        for number, worker in enumerate(self.workers):
            start, base = number * blocks.RANGE_WORDS, number * self.segment
            before = ranges[start + blocks.RANGE_END] or base
            end = base + worker.numbers[blocks.SIZE]
            ranges[start + blocks.RANGE_NEXT], ranges[start + blocks.RANGE_END] = before, end
            ranges[start + blocks.RANGE_STORED] = end
            states += end - before
        if states >= SMALL_LEVEL and len(self.at_work) == 1:
            self.at_work = self.workers
            self.make_room_for_all()
        share = states // (4 * len(self.at_work))
        self.meeting.words[blocks.MEETING_SHARE] = max(1, min(share, blocks.MOST_CLAIMED))
        self.meeting.words[blocks.MEETING_FOUND] = 0
        if states > 0:
            self.meeting.words[blocks.MEETING_LEVEL] += 1
        return states == 0

    @property
    def depth(self) -> int:
        """How far the states of the level are from the initial one."""
        return max(self.meeting.words[blocks.MEETING_LEVEL] - 1, 0)

    def look_at_findings(self) -> None:
        """Have what was found examined; the first violation by rank is kept."""
        for worker in self.workers:
            for kind, position, move in worker.take_findings():
                self.examine(kind, position, move)

    def examine(self, kind: int, position: int, move: Move) -> None:
        conductor, words = self.conductor, self.words_at(position)
        assert isinstance(conductor, LevelConductor)
        match kind:
            case blocks.FAULT:
                conductor.rank = (self.depth + 1, "fault", tuple(words), move.thread, move.choice)
                conductor.confirm_fault(words, move, lambda: self.path(position))
            case blocks.STUCK:
                conductor.rank = (self.depth, "deadlock", tuple(words), 0, 0)
                conductor.examine_stuck(words, lambda: self.path(position))
            case blocks.QUIET if not conductor.hang_found:
                conductor.rank = (self.depth, "hang", tuple(words), 0, 0)
                conductor.examine_quiet(words, lambda: self.path(position))
                self.store.tell(blocks.HANG_WANTED, not conductor.hang_found)
            case blocks.RACE:
                conductor.rank = (self.depth, "race", tuple(words), 0, 0)
                conductor.confirm_race(words, lambda: self.path(position))

    # --- what the search has ------------------------------------------------------------------

    def path(self, position: int) -> tuple[Move, ...]:
        moves = []
        while position > 0:
            move, position = origin_in(self.origins.words[position])
            moves.append(move)
        return tuple(reversed(moves))

    @property
    def transitions(self) -> int:
        return sum(worker.numbers[blocks.TRANSITIONS] for worker in self.workers)

    def count(self) -> None:
        ends = 0
        for worker in self.workers:
            ends |= worker.numbers[blocks.ENDS]
        self.numbers[blocks.ENDS] = ends
        super().count()

    def other_bytes(self) -> int:
        return self.store.size * ORIGIN_BYTES
