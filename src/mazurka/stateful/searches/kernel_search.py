"""The Python side of the searches: owns their arrays, and deals with what a kernel comes back for.

A kernel runs slice by slice.  `KernelSearch` is what all have in common, `StackSearch` is for those
that keep the path to the current state on a stack.
"""

from __future__ import annotations

from mazurka.compiled.memory import Area
from mazurka.deadline import seconds_left
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.compiled.early_kernel import early_kernel
from mazurka.stateful.compiled.store import Store
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.searches.conduct import Conductor

GROWTH = 2.2
"""How many times as long as the last time growing a table takes, which becomes twice as large."""


class KernelSearch:
    kernel_name: str
    where: int
    """The place of the block that says where in the search something was found."""
    many_stuck = True
    """Whether the kernel comes back for each state in which nobody moves."""

    def __init__(
        self,
        view: ProgramView,
        options: SearchOptions,
        observer: Observer,
        *,
        extra_words: int = 0,
        inline: bool = False,
    ) -> None:
        """`extra_words`: what a record has behind its state.  `inline`: a state is one word, which
        lies in the table and on the stack itself."""
        self.view = view
        self.layout = view.layout
        self.numbers = view.block.numbers
        self.inline = inline
        self.conductor = self.make_conductor(options, observer)
        self.limit_bytes = options.limit_bytes or self.conductor.limit_bytes
        """What the search may ever have: so much address space is reserved."""
        self.record_words = self.layout.words + extra_words
        self.store = self.make_store(observer, inline=inline)
        self.kernel = early_kernel(self.kernel_name, observer)

    def make_conductor(self, options: SearchOptions, observer: Observer) -> Conductor:
        return Conductor(self.view.native, options, observer)

    def make_store(self, observer: Observer, *, inline: bool) -> Store:
        return Store(
            self.view.block,
            self.record_words,
            inline=inline,
            limit_bytes=self.conductor.limit_bytes,
            reserved_bytes=self.limit_bytes,
            observer=observer,
        )

    def enter_initial_state(
        self, array: int, length: int, extra: tuple[tuple[int, ...], ...] = ((),)
    ) -> None:
        """An array of the block that begins with the initial state, once for each `extra`, which
        are words to put behind it."""
        area = Area(length)
        initial = self.layout.pack(self.layout.program.initial_state())
        for number, behind in enumerate(extra):
            for offset, word in enumerate((*initial, *behind)):
                area.words[number * self.record_words + offset] = word
        self.view.keep(array, area)

    def words_at(self, position: int) -> list[int]:
        """The packed state at a position: of the log, or of the stack if there is one."""
        return self.store.words_at(position, self.layout.words)

    def path(self, position: int) -> tuple[Move, ...]:
        """The schedule that leads to the state at a position."""
        raise NotImplementedError

    # --- slices -------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        budget = min(budget, self.kernel.longest_slice)
        end = self.numbers[blocks.TRANSITIONS] + budget
        self.numbers[blocks.BUDGET] = budget
        reason = self.kernel(self.view.block.address)
        stopping = (blocks.STUCK, blocks.QUIET)
        while self.many_stuck and reason in stopping and seconds_left() != 0:
            # There may be very many of these states; what else is done after a slice can wait.
            position = self.numbers[self.where]
            examine = self.examine_stuck if reason == blocks.STUCK else self.examine_quiet
            if examine(position):
                self.count()
                return True
            self.numbers[blocks.BUDGET] = max(end - self.numbers[blocks.TRANSITIONS], 0)
            reason = self.kernel(self.view.block.address)
        self.count()
        return self.deal_with(reason)

    def deal_with(self, reason: int) -> bool:
        """Do what the kernel came back for; whether the search is over."""
        numbers, conductor, position = self.numbers, self.conductor, self.numbers[self.where]
        match reason:
            case blocks.STORE_FULL:
                if not conductor.has_time(GROWTH * self.store.growing_seconds):
                    return conductor.out_of("time")
                return not self.grow_store() and conductor.out_of_memory()
            case blocks.STACK_FULL:
                return conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                self.view.lengthen_footprint()
            case blocks.FAULT:
                move = Move(numbers[blocks.MOVE_THREAD], numbers[blocks.MOVE_CHOICE])
                words = self.words_at(position)
                return conductor.confirm_fault(words, move, lambda: self.path(position))
            case blocks.STUCK:
                return self.examine_stuck(position)
            case blocks.QUIET:
                return self.examine_quiet(position)
            case blocks.WALK_FULL:
                self.view.lengthen_walks()
            case blocks.RACE:
                return conductor.confirm_race(self.words_at(position), lambda: self.path(position))
        return reason == blocks.DONE

    def grow_store(self) -> bool:
        """Make room for more states; False where there is no memory, and none to be had."""
        other = self.mark_bytes() + self.other_bytes()
        if self.store.grow(other):
            return True
        if not self.conductor.obtain_memory():
            return False
        self.store.limit_bytes = self.conductor.limit_bytes
        return self.store.grow(other)

    def examine_stuck(self, position: int) -> bool:
        """Look at a state in which nobody moves."""
        return self.conductor.examine_stuck(self.words_at(position), lambda: self.path(position))

    def examine_quiet(self, position: int) -> bool:
        """Look at a state in which threads go round for ever and change nothing shared.

        One hang is enough: its states are many, and each is one."""
        words = self.words_at(position)
        over = self.conductor.examine_quiet(words, lambda: self.path(position))
        self.numbers[blocks.HANG_WANTED] = not self.conductor.hang_found
        return over

    def count(self) -> None:
        """Keep the books."""
        self.conductor.stops.ended_freely = bool(self.numbers[blocks.ENDS] & blocks.ENDS_FREELY)
        marks = self.mark_bytes()
        statistics = Statistics(
            states=self.states,
            transitions=self.transitions,
            depth=self.depth,
            table_bytes=self.store.used_bytes() + marks,
            peak_bytes=self.store.peak_bytes + marks,
            disk_bytes=self.disk_bytes(),
            expanded=self.expanded,
        )
        self.conductor.count(statistics, other_bytes=self.other_bytes() + self.view.walk_bytes())

    @property
    def states(self) -> int:
        return self.store.size

    @property
    def transitions(self) -> int:
        return self.numbers[blocks.TRANSITIONS]

    @property
    def depth(self) -> int:
        return self.numbers[blocks.DEEPEST]

    @property
    def expanded(self) -> int | None:
        """The states whose vectors have been made, in searches that make some."""
        return None

    def mark_bytes(self) -> int:
        """What is kept for each state beside the store."""
        return 0

    def other_bytes(self) -> int:
        """What is kept beside store and marks."""
        return 0

    def disk_bytes(self) -> int | None:
        """What is kept on disk, where anything is."""
        return None


class StackSearch(KernelSearch):
    """A search whose stack holds the path from the initial state to the current one."""

    where = blocks.FRAME
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
        super().__init__(ProgramView(code, options), options, observer, inline=inline)
        self.frame_bytes = 8 * len(self.stack_arrays)
        for array in self.stack_arrays:
            self.view.keep(array, Area(self.limit_bytes // self.frame_bytes))
        self.stack, self.frames = self.view.kept[blocks.STACK], self.view.kept[blocks.PROGRESS]
        self.numbers[blocks.ROOM] = self.stack.length

    def words_at(self, frame: int) -> list[int]:
        entry = self.stack.words[frame]
        return [entry] if self.inline else super().words_at(entry)

    def other_bytes(self) -> int:
        return self.numbers[blocks.DEEPEST] * self.frame_bytes
