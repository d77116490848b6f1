"""Breadth-first search: the Python side of `mazurka.stateful.kernels.breadth_first`.

Owns the origins, goes from level to level, and follows origins back to the start to find the
schedule of a violation.
"""

from __future__ import annotations

from mazurka.compiled.memory import Area
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.searches.kernel_search import KernelSearch

ORIGIN_BYTES = 8


class BreadthFirst(KernelSearch):
    kernel_name = "breadth_first"
    where = blocks.POSITION
    depth = 0

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        *,
        extra: tuple[tuple[int, ...], ...] = ((),),
    ) -> None:
        """`extra`: words to put behind the initial state, for each record to start from."""
        view = ProgramView(native, options)
        super().__init__(view, options, observer, extra_words=len(extra[0]))
        self.origins = Area(self.limit_bytes // ORIGIN_BYTES)
        self.view.keep(blocks.ORIGINS, self.origins)
        self.starts = len(extra)
        most = sum(max(bounds) for bounds in self.layout.choices)
        self.numbers[blocks.END] = self.starts
        self.numbers[blocks.MOST_SUCCESSORS] = most
        self.numbers[blocks.MOVES] = blocks.ALL_MOVES
        room = max(most, self.starts) * (self.record_words + blocks.SUCCESSOR_WORDS)
        self.enter_initial_state(blocks.BUFFER, room, extra)

    def path(self, position: int) -> tuple[Move, ...]:
        moves = []
        while position >= self.starts:
            move, position = origin_in(self.origins.words[position])
            moves.append(move)
        return tuple(reversed(moves))

    def other_bytes(self) -> int:
        return self.store.size * ORIGIN_BYTES

    def deal_with(self, reason: int) -> bool:
        return self.next_level() if reason == blocks.DONE else super().deal_with(reason)

    def examine_stuck(self, position: int) -> bool:
        """The kernel has passed the state when it finds that nothing follows it."""
        return super().examine_stuck(position - 1)

    def examine_quiet(self, position: int) -> bool:
        """The kernel has gone on to the next state when it reports a hang."""
        return super().examine_quiet(position - 1)

    def next_level(self) -> bool:
        """Go on to the states found last; whether there are none."""
        numbers = self.numbers
        if numbers[blocks.END] == numbers[blocks.SIZE]:
            return True
        self.depth += 1
        numbers[blocks.END] = numbers[blocks.SIZE]
        return False


def origin_in(word: int) -> tuple[Move, int]:
    """The move by which a state was found first, and the position of the state before it."""
    thread_bits = blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT
    thread = word >> blocks.ORIGIN_THREAD_SHIFT & (1 << thread_bits) - 1
    choice = word & (1 << blocks.ORIGIN_THREAD_SHIFT) - 1
    return Move(thread, choice), word >> blocks.ORIGIN_POSITION_SHIFT
