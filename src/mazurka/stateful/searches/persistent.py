"""Search with persistent sets: the Python side of `mazurka.stateful.kernels.persistent`.

`PersistentTables` enters in the search's block what the threads may touch later.  Sets of cells
become bit sets over *columns*: only cells that one thread may write and another one use have a
column, for nothing else can be in conflict.  The ends of queues (`mazurka.analysis.channels`) have
columns, their cells have none.  For every set of locks that a thread turns out to hold
there is a table of its own, by location: what others may touch as long as they cannot get these
locks (paper 004's `touch-now-later-LS`).  The first table is the one without locks; the others are
made when the kernel first meets their pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mazurka.analysis.cell_sets import NOTHING, CellSets
from mazurka.analysis.futures import (
    RESTING,
    Futures,
    find_futures,
    find_pattern_locks,
    find_sticky_locations,
)
from mazurka.compiled.memory import Area
from mazurka.deadline import check_time
from mazurka.ir.native.step import NativeProgram, native
from mazurka.ir.program import IDLE, Program
from mazurka.search import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.quotient import has_alike_places
from mazurka.stateful.searches.discipline_tables import enter_locks
from mazurka.stateful.searches.kernel_search import StackSearch
from mazurka.stateful.variants import Proviso, Relation

MOST_THREADS = 64
SHORT_FOOTPRINT = 64
MOST_LOCKS = 64
"""Locks that stand in a pattern; a lock that is left out only makes sets larger."""
WORD = (1 << 64) - 1
SHARED_ARRAYS = (
    blocks.COLUMNS, blocks.OWN, blocks.WAITING_FOR, blocks.TRAITS, blocks.PATTERNS, blocks.LATER,
)  # fmt: skip
SHARED_NUMBERS = (
    blocks.COLUMN_WORDS, blocks.CELLS, blocks.RELATION, blocks.PATTERN_CAPACITY,
)  # fmt: skip
"""What several workers have in common."""
FIRST_PATTERNS = 8


class PersistentTables:
    """Owns the arrays that describe a program's futures to the kernel."""

    def __init__(self, view: ProgramView, relation: Relation, proviso: Proviso) -> None:
        self.view = view
        self.program = view.program
        self.futures = find_futures(self.program)
        self.locks: list[int] = []
        if relation is Relation.LOCK_PATTERNS:
            self.locks = sorted(find_pattern_locks(self.program))[:MOST_LOCKS]
        self.places = list(view.places())
        self.columns = columns_of(self.program, self.futures)
        self.column_words = max(-(-len(self.columns) // 64), 1)
        self.known_sets: dict[int, int] = {}
        """Sets of cells that have been made sets of columns; many rows are alike."""
        self.patterns = [frozenset[int]()]
        """The sets of locks for which there are tables, by number."""
        self.enter_columns()
        enter_locks(view, self.locks)
        self.enter_traits(relation, proviso)
        self.later = Area(FIRST_PATTERNS * self.table_words)
        self.enter_table(0)
        self.enter_patterns()

    def enter_columns(self) -> None:
        threads = len(self.program.threads)
        columns = {address: column for column, address in enumerate(self.columns)}
        cells = range(len(self.program.cells))
        self.view.keep(blocks.COLUMNS, Area.of(columns.get(cell, -1) for cell in cells))
        self.view.keep(blocks.NOW, Area(2 * self.column_words * threads))
        own, waiting = Area(self.table_words), Area(self.table_words)
        for place, (thread, location) in enumerate(self.places):
            if location is not None:
                self.put(own, place, self.own(thread, location))
                self.put(waiting, place, self.waiting(thread, location))
        self.view.keep(blocks.OWN, own)
        self.view.keep(blocks.WAITING_FOR, waiting)
        numbers = self.view.block.numbers
        numbers[blocks.COLUMN_WORDS], numbers[blocks.CELLS] = self.column_words, len(cells)

    def enter_traits(self, relation: Relation, proviso: Proviso) -> None:
        """Which locations are sticky, where that is asked, and for ample sets which are safe."""
        traits = [0] * len(self.places)
        sticky = find_sticky_locations(self.program) if proviso is Proviso.STICKY else None
        is_ample = relation is Relation.AMPLE
        for place, (thread, location) in enumerate(self.places):
            if location is None:
                continue
            if sticky is not None and location in sticky[thread]:
                traits[place] = blocks.TRAIT_STICKY
            elif is_ample and self.is_safe(thread, location):
                traits[place] = blocks.TRAIT_SAFE
        self.view.keep(blocks.TRAITS, Area.of(traits))
        rule = blocks.PERSISTENT_AMPLE if is_ample else blocks.PERSISTENT_CLOSURE
        self.view.block.numbers[blocks.RELATION] = rule

    def is_safe(self, thread: int, location: int) -> bool:
        """Whether no step from a location has anything to do with another thread's code."""
        now = self.futures.now(thread, location)
        others = (each for each in range(len(self.program.threads)) if each != thread)
        return not any(self.futures.everywhere(other).interferes(now) for other in others)

    def own(self, thread: int, location: int) -> CellSets:
        """What a step uses beside its footprint; for a thread that rests, what it waits for."""
        futures = self.futures
        if location in RESTING:
            return futures.now(thread, location)
        return futures.using(thread, location)

    def waiting(self, thread: int, location: int) -> CellSets:
        """What a step that is blocked reads beside its footprint: ends of queues."""
        if location in RESTING:
            return NOTHING
        return self.futures.channels.waiting(thread, location)

    # --- what may happen later ----------------------------------------------------------------

    @property
    def table_words(self) -> int:
        return 2 * self.column_words * len(self.places)

    def put(self, area: Area, row: int, touched: CellSets) -> None:
        """Enter a pair of bit sets."""
        base = row * 2 * self.column_words
        for part, cells in enumerate((touched.reads, touched.writes)):
            bits = self.as_columns(cells)
            for word in range(self.column_words):
                place = base + part * self.column_words + word
                area.words[place] = bits >> 64 * word & WORD

    def as_columns(self, cells: int) -> int:
        """A set of cells as a set of columns."""
        if cells not in self.known_sets:
            columns = enumerate(self.columns)
            self.known_sets[cells] = sum(1 << n for n, address in columns if cells >> address & 1)
        return self.known_sets[cells]

    def enter_table(self, pattern: int) -> None:
        held = self.patterns[pattern]
        first = pattern * len(self.places)
        for number, (thread, location) in enumerate(self.places):
            check_time("analysing what threads may do later")
            if location is not None:
                self.put(self.later, first + number, self.futures.later(thread, location, held))

    def add_pattern(self, held: int) -> None:
        """Make the table for a set of locks, given as bits."""
        number = len(self.patterns)
        self.patterns.append(frozenset(self.held_locks(held)))
        if (number + 1) * self.table_words > self.later.length:
            larger = Area(2 * self.later.length)
            larger.words[: self.later.length] = self.later.words
            self.later = larger
        self.enter_table(number)
        self.enter_patterns()

    def has_pattern(self, held: int) -> bool:
        return frozenset(self.held_locks(held)) in self.patterns

    def share_with(self, view: ProgramView) -> None:
        """Enter the tables in another search's block, too; what is written is its own."""
        for position in SHARED_ARRAYS:
            view.keep(position, self.view.kept[position])
        for position in SHARED_NUMBERS:
            view.block.numbers[position] = self.view.block.numbers[position]

    def held_locks(self, held: int) -> Iterator[int]:
        return (lock for number, lock in enumerate(self.locks) if held >> number & 1)

    def enter_patterns(self) -> None:
        """The hash table of patterns, at most half full."""
        capacity = 1 << (2 * len(self.patterns)).bit_length()
        table = Area(2 * capacity)
        numbers = {lock: number for number, lock in enumerate(self.locks)}
        for pattern, locks in enumerate(self.patterns):
            held = sum(1 << numbers[lock] for lock in locks)
            if held:
                slot = slot_of(held, capacity)
                while table.words[2 * slot]:
                    slot = slot + 1 & capacity - 1
                table.words[2 * slot], table.words[2 * slot + 1] = held, pattern
        self.view.keep(blocks.PATTERNS, table)
        self.view.keep(blocks.LATER, self.later)
        self.view.block.numbers[blocks.PATTERN_CAPACITY] = capacity

    def used_bytes(self) -> int:
        return 8 * self.later.length


def slot_of(held: int, capacity: int) -> int:
    """Where the kernel looks for a set of locks first."""
    return (held * blocks.PATTERN_FACTOR & WORD) >> blocks.PATTERN_SHIFT & capacity - 1


def columns_of(program: Program, futures: Futures) -> list[int]:
    """The cells, and ends of queues, that some thread may write and another one use."""
    written = used = 0
    shared = 0
    for thread, automaton in enumerate(program.threads):
        touched = futures.everywhere(thread) | futures.now(thread, IDLE)
        for location in range(len(automaton.locations)):
            touched |= futures.channels.waiting(thread, location)
        both = touched.reads | touched.writes
        shared |= written & both | used & touched.writes
        written |= touched.writes
        used |= both
    return [address for address in range(shared.bit_length()) if shared >> address & 1]


@dataclass(frozen=True, kw_only=True)
class Sets:
    """How persistent sets are made, and what keeps them from ignoring a thread."""

    relation: Relation
    proviso: Proviso = Proviso.STACK


def examination_words(view: ProgramView) -> int:
    """The room that examining a state takes in the buffer: a successor for each thread, one more,
    and what the step function said."""
    threads = len(view.program.threads)
    return (threads + 1) * view.layout.words + threads


def enter_examination(view: ProgramView, how: Sets) -> None:
    """Enter what a search needs to examine a state, beside the tables of its program."""
    numbers, threads = view.block.numbers, len(view.program.threads)
    view.keep(blocks.EXAMINED, Area(blocks.EXAMINED_WORDS))
    view.keep(blocks.CONFLICTS, Area(threads))
    view.keep(blocks.PLACES_AT, Area(threads))
    acting = (1 << n for n, each in enumerate(view.program.threads) if not each.observer)
    view.block.words[blocks.ACTING] = sum(acting)
    if not view.race_wanted:
        view.lengthen_footprint(SHORT_FOOTPRINT)
        is_ample = how.relation is Relation.AMPLE  # it needs no footprints
        numbers[blocks.RECORDING_STEP] = view.code(record=not is_ample)
    numbers[blocks.STACK_PROVISO] = how.proviso is Proviso.STACK


class PersistentSearch(StackSearch):
    kernel_name = "persistent"
    stack_arrays = (blocks.STACK, blocks.PROGRESS, blocks.REMAINING)

    def __init__(
        self, code: NativeProgram, options: SearchOptions, observer: Observer, how: Sets
    ) -> None:
        super().__init__(code, options, observer)
        self.how = how
        self.enter_search()
        self.tables = PersistentTables(self.view, how.relation, how.proviso)

    def enter_search(self) -> None:
        self.view.keep(blocks.INFO, Area(self.limit_bytes // 64, scattered=True))
        self.enter_initial_state(blocks.BUFFER, examination_words(self.view))
        enter_examination(self.view, self.how)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame: the moves last tried below it."""
        return tuple(map(move_in, self.frames.words[:frame]))

    def deal_with(self, reason: int) -> bool:
        if reason == blocks.PATTERN_MISSING:
            self.tables.add_pattern(self.view.block.words[blocks.HELD])
        return super().deal_with(reason)

    def mark_bytes(self) -> int:
        return self.store.size if self.numbers[blocks.STACK_PROVISO] else 0

    def other_bytes(self) -> int:
        return super().other_bytes() + self.tables.used_bytes()


def move_in(word: int) -> Move:
    """The move last tried in a frame."""
    width = blocks.FRAME_TID_SHIFT - blocks.FRAME_CHOICE_SHIFT
    choice = word >> blocks.FRAME_CHOICE_SHIFT & (1 << width) - 1
    return Move(word >> blocks.FRAME_TID_SHIFT, choice - 1)


def search_persistent(
    code: NativeProgram, options: SearchOptions, observer: Observer, how: Sets
) -> SearchResult:
    """Search with persistent sets, or without reduction where there are none to be had."""
    reason = why_unreduced(code.program)
    code = with_alike_places(code, how)
    if reason is None:
        return PersistentSearch(code, options, observer, how).run()
    from mazurka.stateful.searches.depth_first import DepthFirst

    result = DepthFirst(code, options, observer).run()
    return replace(result, notes=(*result.notes, f"not reduced: {reason}"))


def with_alike_places(code: NativeProgram, how: Sets) -> NativeProgram:
    """The code without canonical states where interchangeable threads have other sticky places."""
    if how.proviso is Proviso.STICKY and not has_alike_places(
        code, find_sticky_locations(code.program)
    ):
        return native(code.origin)
    return code


def why_unreduced(program: Program) -> str | None:
    """What keeps a program from being searched with persistent sets; None if nothing does."""
    if len(program.threads) > MOST_THREADS:
        return f"persistent sets take at most {MOST_THREADS} threads, not {len(program.threads)}"
    if find_futures(program).observers_meddle:
        return "an observer thread writes to variables that others use"
    return None
