"""Depth-first search: the Python side of `mazurka.stateful.kernels.depth_first`.

Owns the stack, runs the kernel slice by slice, and reads schedules off the stack.
"""

from __future__ import annotations

from mazurka.ir.native.step import NativeProgram
from mazurka.search.observer import Observer
from mazurka.search.options import SearchOptions
from mazurka.search.result import Move, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.engine import kernel
from mazurka.stateful.memory import Area
from mazurka.stateful.store import Store
from mazurka.stateful.view import ProgramView

FRAME_BYTES = 16
LOOK_AHEAD = 8
"""How many successors are made before the first is looked up; those behind a new one are made
again later, so more is not better."""


class DepthFirst:
    def __init__(self, native: NativeProgram, options: SearchOptions, observer: Observer) -> None:
        self.layout = native.layout
        self.conductor = Conductor(native, options, observer)
        self.view = ProgramView(native, options)
        self.numbers = self.view.block.numbers
        limit = self.conductor.limit_bytes
        self.inline = self.layout.words == 1
        self.store = Store(
            self.view.block,
            self.layout.words,
            inline=self.inline,
            limit_bytes=limit,
            observer=observer,
        )
        self.stack = Area(limit // FRAME_BYTES)
        self.progress = Area(limit // FRAME_BYTES)
        self.view.keep(blocks.STACK, self.stack)
        self.view.keep(blocks.PROGRESS, self.progress)
        self.numbers[blocks.ROOM] = self.stack.length
        buffer = Area(LOOK_AHEAD * (self.layout.words + blocks.SUCCESSOR_WORDS))
        initial = self.layout.pack(self.layout.program.initial_state())
        for position, word in enumerate(initial):
            buffer.words[position] = word
        self.view.keep(blocks.BUFFER, buffer)
        self.numbers[blocks.MOST_SUCCESSORS] = LOOK_AHEAD
        self.kernel = kernel("depth_first", observer)

    def words_at(self, frame: int) -> list[int]:
        """The packed state of a frame."""
        entry = self.stack.words[frame]
        return [entry] if self.inline else self.store.words_at(entry, self.layout.words)

    def move_of(self, frame: int) -> Move:
        """The move last tried in a frame: the one before the next."""
        progress = self.progress.words[frame]
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
        return tuple(moves[(word >> shift) - 1] for word in self.progress.words[:frame])

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        numbers, conductor = self.numbers, self.conductor
        numbers[blocks.BUDGET] = budget
        reason = self.kernel(self.view.block.address)
        height = numbers[blocks.HEIGHT]
        stack_bytes = numbers[blocks.DEEPEST] * FRAME_BYTES
        conductor.count(
            states=self.store.size,
            transitions=numbers[blocks.TRANSITIONS],
            depth=numbers[blocks.DEEPEST],
            table_bytes=self.store.used_bytes(),
            other_bytes=stack_bytes,
            peak_bytes=self.store.peak_bytes,
        )
        match reason:
            case blocks.STORE_FULL:
                return not self.store.grow(stack_bytes) and conductor.out_of_memory()
            case blocks.STACK_FULL:
                return conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            case blocks.FAULT:
                frame = numbers[blocks.FRAME]
                move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
                return conductor.fault(self.words_at(frame), move, lambda: self.path(frame))
            case blocks.DEADLOCK:
                return conductor.deadlock(self.words_at(height), lambda: self.path(height))
            case blocks.RACE:
                top = height - 1
                return conductor.race(self.words_at(top), lambda: self.path(top))
        return reason == blocks.DONE


def search_depth_first(
    native: NativeProgram, options: SearchOptions, observer: Observer
) -> SearchResult:
    return DepthFirst(native, options, observer).run()
