"""Search with persistent sets: the Python side of `mazurka.stateful.kernels.persistent`.

Makes the table for a pattern of locks when the kernel first meets it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.analysis.futures import futures_of
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import Program
from mazurka.search import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.memory import Area
from mazurka.stateful.persistent_tables import PersistentTables
from mazurka.stateful.stack_search import StackSearch
from mazurka.stateful.variants import Proviso, Relation

MOST_THREADS = 64
SHORT_FOOTPRINT = 64


@dataclass(frozen=True, kw_only=True)
class Sets:
    """How persistent sets are made, and what keeps them from ignoring a thread."""

    relation: Relation
    proviso: Proviso = Proviso.STACK


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
        view, numbers, layout = self.view, self.numbers, self.layout
        threads = len(layout.program.threads)
        view.keep(blocks.INFO, Area(self.conductor.limit_bytes // 64, scattered=True))
        self.enter_initial_state(blocks.BUFFER, (threads + 1) * layout.words + threads)
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

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame: the moves last tried below it."""
        return tuple(map(move_in, self.frames.words[:frame]))

    def attend_to(self, reason: int) -> None:
        if reason == blocks.PATTERN_MISSING:
            self.tables.add_pattern(self.view.block.words[blocks.HELD])

    def mark_bytes(self) -> int:
        return self.store.size if self.numbers[blocks.STACK_PROVISO] else 0

    def other_bytes(self) -> int:
        return self.tables.used_bytes()


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
