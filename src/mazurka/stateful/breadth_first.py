"""Breadth-first search: the Python side of `mazurka.stateful.kernels.breadth_first`.

Owns the origins, runs the kernel slice by slice and level by level, and follows origins back to
the start to find the schedule of a violation.
"""

from __future__ import annotations

from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.kernel_cache import kernel
from mazurka.stateful.memory import Area
from mazurka.stateful.store import Store
from mazurka.stateful.view import ProgramView

ORIGIN_BYTES = 8


class BreadthFirst:
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        *,
        extra: tuple[tuple[int, ...], ...] = ((),),
    ) -> None:
        """`extra`: words to put behind the initial state, for each record to start from."""
        self.native = native
        self.layout = native.layout
        self.conductor = Conductor(native, options, observer)
        self.view = ProgramView(native, options)
        self.numbers = self.view.block.numbers
        limit = self.conductor.limit_bytes
        words = self.layout.words + len(extra[0])
        self.store = Store(
            self.view.block, words, inline=False, limit_bytes=limit, observer=observer
        )
        self.origins = Area(limit // ORIGIN_BYTES)
        self.view.keep(blocks.ORIGINS, self.origins)
        self.starts = len(extra)
        self.numbers[blocks.END] = self.starts
        most = sum(max(bounds) for bounds in self.layout.choices)
        self.numbers[blocks.MOST_SUCCESSORS] = most
        buffer = Area(max(most, self.starts) * (words + blocks.SUCCESSOR_WORDS))
        initial = self.layout.pack(self.layout.program.initial_state())
        for number, behind in enumerate(extra):
            for offset, word in enumerate((*initial, *behind)):
                buffer.words[number * words + offset] = word
        self.view.keep(blocks.BUFFER, buffer)
        self.levels = 0
        self.kernel = kernel("breadth_first", observer)

    def words_at(self, position: int) -> list[int]:
        return self.store.words_at(position, self.layout.words)

    def path(self, position: int) -> tuple[Move, ...]:
        """The schedule that leads to the state at a position of the log."""
        thread_bits = blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT
        moves = []
        while position >= self.starts:
            origin = self.origins.words[position]
            thread = origin >> blocks.ORIGIN_THREAD_SHIFT & (1 << thread_bits) - 1
            moves.append(Move(thread, origin & (1 << blocks.ORIGIN_THREAD_SHIFT) - 1))
            position = origin >> blocks.ORIGIN_POSITION_SHIFT
        return tuple(reversed(moves))

    def expand(self, budget: int, moves: int) -> int:
        """Run the kernel for one slice; why it came back."""
        numbers = self.numbers
        numbers[blocks.BUDGET], numbers[blocks.MOVES] = budget, moves
        reason = self.kernel(self.view.block.address)
        self.conductor.count(
            states=self.store.size,
            transitions=numbers[blocks.TRANSITIONS],
            depth=self.levels,
            table_bytes=self.store.used_bytes(),
            other_bytes=self.store.size * ORIGIN_BYTES,
            peak_bytes=self.store.peak_bytes,
        )
        return reason

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        reason = self.expand(budget, blocks.ALL_MOVES)
        if reason == blocks.FAULT:
            return self.fault()
        if reason == blocks.DONE:
            return self.next_level()
        return self.attend(reason)

    def attend(self, reason: int) -> bool:
        """Deal with an outcome other than a fault or the end of a level."""
        position = self.numbers[blocks.POSITION]
        match reason:
            case blocks.STORE_FULL:
                grown = self.store.grow(self.store.size * ORIGIN_BYTES)
                return not grown and self.conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            case blocks.DEADLOCK:
                before = position - 1
                return self.conductor.confirm_deadlock(
                    self.words_at(before), lambda: self.path(before)
                )
            case blocks.RACE:
                return self.conductor.confirm_race(
                    self.words_at(position), lambda: self.path(position)
                )
        return False

    def fault(self) -> bool:
        numbers = self.numbers
        position = numbers[blocks.POSITION]
        move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
        return self.conductor.confirm_fault(
            self.words_at(position), move, lambda: self.path(position)
        )

    def next_level(self) -> bool:
        numbers = self.numbers
        if numbers[blocks.END] == numbers[blocks.SIZE]:
            return True
        self.levels += 1
        numbers[blocks.END] = numbers[blocks.SIZE]
        return False


def search_breadth_first(
    native: NativeProgram, options: SearchOptions, observer: Observer
) -> SearchResult:
    return BreadthFirst(native, options, observer).run()
