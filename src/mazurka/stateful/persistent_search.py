"""Search with persistent sets: the Python side of `mazurka.stateful.kernels.persistent`.

Owns the stack, runs the kernel slice by slice, makes the table for a pattern of locks when the
kernel first meets it, and reads schedules off the stack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.analysis.futures import futures_of
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import Program
from mazurka.search.observer import Observer
from mazurka.search.options import SearchOptions
from mazurka.search.result import Move, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.engine import kernel
from mazurka.stateful.memory import Area
from mazurka.stateful.persistent_tables import PersistentTables
from mazurka.stateful.store import Store
from mazurka.stateful.variants import Proviso, Relation
from mazurka.stateful.view import ProgramView

FRAME_BYTES = 24
"""A position, how far its steps have been tried, and a set of threads."""
MOST_THREADS = 64
SHORT_FOOTPRINT = 64


@dataclass(frozen=True, kw_only=True)
class Sets:
    """How persistent sets are made, and what keeps them from ignoring a thread."""

    relation: Relation
    proviso: Proviso = Proviso.STACK


class PersistentSearch:
    def __init__(
        self, code: NativeProgram, options: SearchOptions, observer: Observer, how: Sets
    ) -> None:
        self.layout = code.layout
        self.conductor = Conductor(code, options, observer)
        self.view = ProgramView(code, options)
        self.numbers = self.view.block.numbers
        limit = self.conductor.limit_bytes
        self.store = Store(
            self.view.block, self.layout.words, inline=False, limit_bytes=limit, observer=observer
        )
        self.how = how
        self.enter_search(limit)
        self.tables = PersistentTables(self.view, how.relation, how.proviso)
        self.kernel = kernel("persistent", observer)

    def enter_search(self, limit: int) -> None:
        view, numbers, layout = self.view, self.numbers, self.layout
        threads = len(layout.program.threads)
        for array in (blocks.STACK, blocks.PROGRESS, blocks.REMAINING):
            view.keep(array, Area(limit // FRAME_BYTES))
        self.stack, self.frames = view.kept[blocks.STACK], view.kept[blocks.PROGRESS]
        numbers[blocks.ROOM] = self.stack.length
        view.keep(blocks.INFO, Area(limit // 64, scattered=True))
        buffer = Area((threads + 1) * layout.words + threads)
        for position, word in enumerate(layout.pack(layout.program.initial_state())):
            buffer.words[position] = word
        view.keep(blocks.BUFFER, buffer)
        view.keep(blocks.EXAMINED, Area(blocks.EXAMINED_WORDS))
        view.keep(blocks.CONFLICTS, Area(threads))
        view.keep(blocks.PLACES_AT, Area(threads))
        acting = (1 << n for n, each in enumerate(layout.program.threads) if not each.observer)
        view.block.words[blocks.ACTING] = sum(acting)
        view.lengthen_footprint(SHORT_FOOTPRINT)
        is_ample = self.how.relation is Relation.AMPLE  # it needs no footprints
        code = view.native
        numbers[blocks.RECORDING_STEP] = (code.step if is_ample else code.recording_step).address
        numbers[blocks.STACK_PROVISO] = self.how.proviso is Proviso.STACK

    # --- what stands on the stack -------------------------------------------------------------

    def words_at(self, frame: int) -> list[int]:
        return self.store.words_at(self.stack.words[frame], self.layout.words)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame: the moves last tried below it."""
        return tuple(map(move_in, self.frames.words[:frame]))

    # --- slices -------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        numbers, conductor = self.numbers, self.conductor
        numbers[blocks.BUDGET] = budget
        reason = self.kernel(self.view.block.address)
        other_bytes = self.count()
        match reason:
            case blocks.STORE_FULL:
                return not self.store.grow(other_bytes) and conductor.out_of_memory()
            case blocks.STACK_FULL:
                return conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            case blocks.PATTERN_MISSING:
                self.tables.add_pattern(self.view.block.words[blocks.HELD])
            case blocks.FAULT:
                frame = numbers[blocks.FRAME]
                move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
                return conductor.fault(self.words_at(frame), move, lambda: self.path(frame))
            case blocks.DEADLOCK:
                frame = numbers[blocks.FRAME]
                return conductor.deadlock(self.words_at(frame), lambda: self.path(frame))
        return reason == blocks.DONE

    def count(self) -> int:
        """Keep the books; the bytes that the search takes beside its table."""
        numbers = self.numbers
        marks = self.store.size if numbers[blocks.STACK_PROVISO] else 0
        other = numbers[blocks.DEEPEST] * FRAME_BYTES + self.tables.used_bytes()
        self.conductor.count(
            states=self.store.size,
            transitions=numbers[blocks.TRANSITIONS],
            depth=numbers[blocks.DEEPEST],
            table_bytes=self.store.used_bytes() + marks,
            other_bytes=other,
            peak_bytes=self.store.peak_bytes + marks,
        )
        return marks + other


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
    if reason is None:
        return PersistentSearch(code, options, observer, how).run()
    from mazurka.stateful.depth_first import search_depth_first

    result = search_depth_first(code, options, observer)
    return replace(result, notes=(*result.notes, f"not reduced: {reason}"))


def why_unreduced(program: Program) -> str | None:
    """What keeps a program from being searched with persistent sets; None if nothing does."""
    if len(program.threads) > MOST_THREADS:
        return f"persistent sets take at most {MOST_THREADS} threads, not {len(program.threads)}"
    if futures_of(program).observers_meddle:
        return "an observer thread writes to variables that others use"
    return None
