"""Depth-first search: the Python side of `mazurka.stateful.kernels.depth_first`.

A frame holds the next move to try, so that schedules can be read off the stack.
"""

from __future__ import annotations

from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions
from mazurka.stateful import blocks
from mazurka.stateful.searches.kernel_search import StackSearch

LOOK_AHEAD = 8
"""How many successors are made before the first is looked up; those behind a new one are made
again later, so more is not better."""


class DepthFirst(StackSearch):
    kernel_name = "depth_first"
    may_inline = True
    """Whether states of one word may lie in the table itself."""

    def __init__(self, native: NativeProgram, options: SearchOptions, observer: Observer) -> None:
        words = native.layout.words
        super().__init__(native, options, observer, inline=words == 1 and self.may_inline)
        self.enter_initial_state(blocks.BUFFER, LOOK_AHEAD * (words + blocks.SUCCESSOR_WORDS))
        self.numbers[blocks.MOST_SUCCESSORS] = LOOK_AHEAD

    def move_of(self, frame: int) -> Move:
        """The move last tried in a frame: the one before the next."""
        progress = self.frames.words[frame]
        choice = progress >> blocks.CHOICE_SHIFT & (1 << blocks.CHOICE_BITS) - 1
        thread = progress >> blocks.THREAD_SHIFT
        if choice:
            return Move(thread, choice - 1)
        return Move(thread - 1, self.view.choices_at(self.words_at(frame), thread - 1) - 1)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame; it may have millions of moves."""
        if self.numbers[blocks.ANY_CHOICE]:
            return tuple(self.move_of(earlier) for earlier in range(frame))
        moves = [Move(thread) for thread in range(len(self.layout.program.threads))]
        shift = blocks.THREAD_SHIFT
        return tuple(moves[(word >> shift) - 1] for word in self.frames.words[:frame])
