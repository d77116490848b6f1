"""Breadth-first search with the visited states on disk: delayed duplicate detection.

Stern, Dill: Using Magnetic Disk instead of Main Memory in the Murphi Verifier (CAV 1998), and Korf:
Delayed Duplicate Detection (IJCAI 2003), with sorted files.  The search goes level by level.  Level
0 is the initial state; a *level* is a sorted file.

1. The states of a level are read chunk by chunk, and expanded by the kernel of the breadth-first
   search in memory.  Its table holds what has been found since it was emptied last.
2. When the table has no room, and at the end of the level, its states are sorted and written as a
   *run*.
3. The runs are merged, and all states of earlier levels are taken away.  What is left is the next
   level; if nothing is left, every reachable state has been expanded.

**Why nothing is missed.**  Every state of a level is expanded once.  A successor that is dropped
equals, word for word, a record of the log to which the table points.  This is a state found since
the table was emptied, which the next run will contain, or one of the level at hand.  A record is
left out of the next level only where it equals a record of an earlier level, or one that has just
been written.  So level n + 1 consists of the successors of level n that have been in no level so
far: by induction, the states whose shortest schedule has n + 1 steps.

States of earlier levels are in files whose sizes at least double: two that do not are merged into
one.  So there are at most as many files as the number of states has binary digits, and a state is
written anew about as often.  The levels themselves are kept beside them.

**Schedules.**  No origins are kept.  The way back from a state of level n begins with a state of
level n - 1 that has it as a successor; to find one, that level is expanded again.  It ends at level
0 after n such steps, so schedules are shortest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mazurka.compiled.cache import kernel
from mazurka.compiled.memory import Area
from mazurka.errors import InternalError
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.beyond_memory.sorted_files import (
    WORD,
    DiskFullError,
    FileReader,
    Part,
    RunKernel,
    ScratchDirectory,
    SortedFile,
    Subtraction,
)
from mazurka.stateful.compiled.store import FIRST_CAPACITY, LAST_LOAD, MOST_LOAD, Store
from mazurka.stateful.searches.breadth_first import ORIGIN_BYTES, BreadthFirst, origin_in

MOST_RUNS = 16
"""Runs that are merged at once; when there are more, they become one."""
LEAST_ROOM = 64
"""Records that must have room in memory: merging needs one for each input, which are the runs, and
no more files than a number of states has binary digits."""
CHUNK_SHARE = 4
"""A chunk of a level takes at most one part in so many of the room."""
STORE_SHARE, TRACING_SHARE = 0.75, 0.125
"""The parts of the memory for the search, and for going back; the rest is for everything small."""


class Room(NamedTuple):
    """How many records there is memory for, and how large the table for them may become."""

    records: int
    slots: int


def plan_room(limit_bytes: int, words: int) -> Room:
    """The most records for which table, log, origins and a second log to sort in have memory.

    While the table grows the old one, half as large, is there too.
    """
    each = 2 * words * WORD + ORIGIN_BYTES
    best = Room(0, 1)
    slots = 1
    while slots * WORD * 3 // 2 < limit_bytes:
        left = limit_bytes - slots * WORD * 3 // 2
        best = max(best, Room(min(int(slots * LAST_LOAD), left // each), slots))
        slots *= 2
    return best


class RunStore(Store):
    """A table that is emptied when it is full, and a log whose first records are a chunk."""

    def __init__(self, block: Area, words: int, *, limit_bytes: int, observer: Observer) -> None:
        self.room = plan_room(limit_bytes, words)
        super().__init__(
            block,
            words,
            inline=False,
            limit_bytes=limit_bytes,
            observer=observer,
            capacity=min(FIRST_CAPACITY, self.room.slots),
        )
        self.spare = Area(self.room.records * words)

    def fill_up_to(self, load: float) -> None:
        whole = self.table.length >= self.room.slots
        full = self.room.records if whole else int(self.table.length * load)
        self.block.numbers[blocks.FULL_AT] = min(full, self.room.records)

    def used_bytes(self) -> int:
        return self.table.length * WORD + 2 * self.size * self.words * WORD

    def grow(self, other_bytes: int) -> bool:
        """Double the table; False if it is as large as it may become."""
        numbers, old = self.block.numbers, self.table
        if old.length >= self.room.slots:
            return False
        larger = Area(2 * old.length, scattered=True)
        self.peak_bytes = max(
            self.peak_bytes, self.used_bytes() + other_bytes + larger.length * WORD
        )
        numbers[blocks.OLD_TABLE], numbers[blocks.OLD_CAPACITY] = old.address, old.length
        self.use(larger)
        kernel("store", self.observer)(self.block.address)
        return True

    def keep_first(self, count: int) -> None:
        """Forget all records but the first, which the table does not point to; a table that was
        much too large becomes smaller.

        When it grows, all records are entered: it must be larger than the first are many.
        """
        length = self.table.length
        while length > FIRST_CAPACITY and self.size < length * MOST_LOAD / 4:
            length //= 2
        while length < self.room.slots and length * MOST_LOAD / 2 < count:
            length *= 2
        self.block.numbers[blocks.SIZE] = count
        self.use(Area(length, scattered=True))


class LevelExpansion(BreadthFirst):
    """Expands the states of a level; what to do with those found is for the subclasses to say."""

    store: RunStore

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        scratch: ScratchDirectory,
    ) -> None:
        super().__init__(native, options, observer)
        self.scratch = scratch
        self.runs = RunKernel(self.record_words, scratch, observer)
        self.base = 0
        """The number of records in the first chunk of a level, behind which new states lie."""

    def make_store(self, observer: Observer, *, inline: bool) -> RunStore:
        limit = int(self.limit_bytes * STORE_SHARE)
        words = self.record_words
        return RunStore(self.view.block, words, limit_bytes=limit, observer=observer)

    @property
    def chunk_room(self) -> int:
        """How many states are expanded before others are read; 0 if there is no memory."""
        left = self.store.room.records - self.numbers[blocks.MOST_SUCCESSORS]
        return left // CHUNK_SHARE if self.store.room.records >= LEAST_ROOM else 0

    @property
    def new_states(self) -> int:
        return self.store.size - self.base

    def part(self, area: Area, first: int) -> Part:
        """The records of an area from one on."""
        return Part(area, self.record_words, first, self.store.room.records - first)

    def expand(self, level: SortedFile) -> Iterator[bool]:
        """Expand every state of a level, slice by slice; each says whether the search is over."""
        numbers = self.numbers
        self.base = min(self.chunk_room, level.count)
        self.store.keep_first(self.base)
        chunk = Part(self.store.log, self.record_words, 0, self.base)
        reader = FileReader(level, chunk)
        try:
            while (count := reader.read()) > 0:
                numbers[blocks.POSITION], numbers[blocks.END] = 0, count
                reason = blocks.SLICE
                while reason != blocks.DONE:
                    reason = self.kernel(self.view.block.address)
                    if reason == blocks.STORE_FULL and not self.store.grow(self.other_bytes()):
                        yield from self.flush()
                    elif reason not in (blocks.DONE, blocks.STORE_FULL):
                        self.count()
                        yield self.deal_with(reason)
                yield from self.leave_chunk()
        finally:
            reader.close()

    def flush(self) -> Iterator[bool]:
        """Deal with the states found so far, and empty the table; subclasses say how."""
        raise NotImplementedError

    def leave_chunk(self) -> Iterator[bool]:
        """What is to be done before other states take the places of those expanded."""
        return iter(())


class DiskSearch(LevelExpansion):
    """The search as the module describes it."""

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        scratch: ScratchDirectory,
    ) -> None:
        super().__init__(native, options, observer, scratch)
        self.options, self.observer = options, observer
        self.fresh: list[SortedFile] = []
        """The runs of the level at hand."""
        self.levels: list[SortedFile] = []
        self.kept: set[SortedFile] = set()
        """The files of levels as a set: `remove` keeps them when others are merged away."""
        self.visited = 0
        self.known: list[SortedFile] = []
        """Sorted files that contain the states of all levels, the largest first."""

    @property
    def states(self) -> int:
        return self.visited

    def disk_bytes(self) -> int:
        return self.scratch.peak_bytes

    def run(self) -> SearchResult:
        steps = self.search_levels()
        notes: tuple[str, ...] = ()

        def go_on(budget: int) -> bool:
            nonlocal notes
            self.numbers[blocks.BUDGET] = budget
            try:
                over = next(steps, True)
            except DiskFullError as full:
                notes = (str(full),)
                over = self.conductor.out_of("disk")
            self.count()
            return over

        try:
            result = self.conductor.run(go_on)
        except KeyboardInterrupt:  # on the way back from a violation
            result = SearchResult(self.conductor.statistics, limits=("interrupted",))
        return replace(result, notes=(*result.notes, *notes), order="bfs")

    def search_levels(self) -> Iterator[bool]:
        """Go from level to level until there is none; each step says whether the search is over."""
        if self.chunk_room < 1:
            yield self.conductor.out_of_memory()
            return
        level = self.write_initial_state()
        while level.count > 0:
            self.levels.append(level)
            self.kept.add(level)
            self.visited += level.count
            yield from self.add_known(level)
            self.depth = len(self.levels) - 1
            yield from self.expand(level)
            yield from self.flush()
            for found in self.subtract(self.fresh, self.known):
                yield False
                level = found or level
            self.remove(self.fresh)
            self.fresh = []

    def write_initial_state(self) -> SortedFile:
        path = self.scratch.new_file()
        initial = self.view.kept[blocks.BUFFER]
        with open(path, "wb") as file:
            self.scratch.append(file, Part(initial, self.record_words, 0, 1).data)
        return SortedFile(path, 1)

    def flush(self) -> Iterator[bool]:
        """Write the states found as a run."""
        count = self.new_states
        if count > 0:
            records, spare = self.part(self.store.log, self.base), self.part(self.store.spare, 0)
            for _ in self.runs.sort(records, spare, count):
                yield False
            self.fresh.append(self.runs.write_sorted(records, spare, count))
            self.count()
            self.store.keep_first(self.base)
        if len(self.fresh) >= MOST_RUNS:
            runs, self.fresh = self.fresh, []
            yield from self.replace_by_one(runs, self.fresh)

    def add_known(self, level: SortedFile) -> Iterator[bool]:
        """Keep a level among the known files; the sizes of these at least double."""
        known = self.known
        known.append(level)
        while len(known) > 1 and known[-2].count < 2 * known[-1].count:
            last = [known.pop(), known.pop()]
            yield from self.replace_by_one(last, known)

    def replace_by_one(self, files: list[SortedFile], where: list[SortedFile]) -> Iterator[bool]:
        """Merge files into one at the end of a list."""
        for made in self.subtract(files):
            yield False
            if made is not None:
                where.append(made)
        self.remove(files)

    def subtract(
        self, fresh: Sequence[SortedFile], known: Sequence[SortedFile] = ()
    ) -> Iterator[SortedFile | None]:
        """Merge files and leave out the records of others."""
        room = self.store.room.records
        return Subtraction(self.runs, self.store.spare, room, fresh, known).run()

    def remove(self, files: Sequence[SortedFile]) -> None:
        """Delete files, but not those of levels."""
        for file in files:
            if file not in self.kept:
                self.scratch.remove(file)

    def path(self, position: int) -> tuple[Move, ...]:
        """The schedule to a state of the level at hand, from the levels before it."""
        wanted = self.words_at(position)
        options = replace(
            self.options, properties=frozenset[str](), limit_bytes=self.tracing_bytes()
        )
        native = self.view.native
        search = PredecessorSearch(native, options, self.observer, self.scratch)
        moves: list[Move] = []
        for number in reversed(range(self.depth)):
            self.observer.message(f"going back from level {number + 1:,}")
            move, wanted = search.find(self.levels[number], wanted)
            moves.append(move)
        return tuple(reversed(moves))

    def tracing_bytes(self) -> int:
        """Memory for the way back; enough for one state and its successors in any case."""
        records = (LEAST_ROOM + self.numbers[blocks.MOST_SUCCESSORS]) * CHUNK_SHARE
        least = records * (2 * self.record_words * WORD + ORIGIN_BYTES + 4 * WORD)
        return max(int(self.limit_bytes * TRACING_SHARE), int(least / STORE_SHARE))


class PredecessorSearch(LevelExpansion):
    """Finds a state of a level that has a given one as a successor."""

    def find(self, level: SortedFile, wanted: list[int]) -> tuple[Move, list[int]]:
        """The move that leads to a state from one of a level, and that state."""
        self.wanted = wanted
        self.found: tuple[Move, list[int]] | None = None
        self.numbers[blocks.FAULTS_WANTED] = 0
        self.numbers[blocks.BUDGET] = 1 << 62
        for _ in self.expand(level):
            if self.found is not None:
                return self.found
        raise InternalError("no state of the level before leads to a state")

    def leave_chunk(self) -> Iterator[bool]:
        return self.flush()

    def flush(self) -> Iterator[bool]:
        """Look for the state among those found."""
        found = self.runs.find(self.part(self.store.log, self.base), self.new_states, self.wanted)
        if found is not None:
            move, position = origin_in(self.origins.words[self.base + found])
            self.found = move, self.words_at(position)
        self.store.keep_first(self.base)
        yield False
