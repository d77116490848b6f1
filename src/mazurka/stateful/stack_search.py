"""Depth-first searches: the Python side of the kernels that keep a path on a stack.

Owns the stack, runs the kernel slice by slice, and deals with what it comes back for.
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


class StackSearch:
    """A search whose stack holds the path from the initial state to the current one."""

    kernel_name: str
    stack_arrays: tuple[int, ...] = (blocks.STACK, blocks.PROGRESS)
    """The arrays that have a word for each frame."""

    def __init__(
        self,
        code: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        *,
        inline: bool = False,
    ) -> None:
        """`inline`: a state is one word, which lies in the table and on the stack itself."""
        self.layout = code.layout
        self.inline = inline
        self.conductor = Conductor(code, options, observer)
        self.view = ProgramView(code, options)
        self.numbers = self.view.block.numbers
        limit = self.conductor.limit_bytes
        self.store = Store(
            self.view.block, self.layout.words, inline=inline, limit_bytes=limit, observer=observer
        )
        self.frame_bytes = 8 * len(self.stack_arrays)
        for array in self.stack_arrays:
            self.view.keep(array, Area(limit // self.frame_bytes))
        self.stack, self.frames = self.view.kept[blocks.STACK], self.view.kept[blocks.PROGRESS]
        self.numbers[blocks.ROOM] = self.stack.length
        self.kernel = kernel(self.kernel_name, observer)

    def enter_initial_state(self, array: int, length: int) -> None:
        """An array of the block that begins with the initial state."""
        area = Area(length)
        initial = self.layout.pack(self.layout.program.initial_state())
        for position, word in enumerate(initial):
            area.words[position] = word
        self.view.keep(array, area)

    # --- what stands on the stack -------------------------------------------------------------

    def words_at(self, frame: int) -> list[int]:
        """The packed state of a frame."""
        entry = self.stack.words[frame]
        return [entry] if self.inline else self.store.words_at(entry, self.layout.words)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame."""
        raise NotImplementedError

    # --- slices -------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        numbers, conductor = self.numbers, self.conductor
        numbers[blocks.BUDGET] = budget
        reason = self.kernel(self.view.block.address)
        other_bytes = self.count()
        frame = numbers[blocks.FRAME]
        match reason:
            case blocks.STORE_FULL:
                return not self.store.grow(other_bytes) and conductor.out_of_memory()
            case blocks.STACK_FULL:
                return conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            case blocks.FAULT:
                move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
                return conductor.confirm_fault(self.words_at(frame), move, lambda: self.path(frame))
            case blocks.DEADLOCK:
                return conductor.confirm_deadlock(self.words_at(frame), lambda: self.path(frame))
            case blocks.RACE:
                return conductor.confirm_race(self.words_at(frame), lambda: self.path(frame))
            case _:
                self.attend_to(reason)
        return reason == blocks.DONE

    def attend_to(self, reason: int) -> None:
        """Do what a kernel asks for that others do not."""

    def count(self) -> int:
        """Keep the books; the bytes that the search takes beside its table."""
        numbers, marks = self.numbers, self.mark_bytes()
        other = numbers[blocks.DEEPEST] * self.frame_bytes + self.other_bytes()
        self.conductor.count(
            states=self.store.size,
            transitions=numbers[blocks.TRANSITIONS],
            depth=numbers[blocks.DEEPEST],
            table_bytes=self.store.used_bytes() + marks,
            other_bytes=other,
            peak_bytes=self.store.peak_bytes + marks,
        )
        return marks + other

    def mark_bytes(self) -> int:
        """What is kept for each state beside the store."""
        return 0

    def other_bytes(self) -> int:
        """What is kept beside store, marks and stack."""
        return 0
