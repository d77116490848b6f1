"""A search by transactions: the Python side of `mazurka.stateful.kernels.transactions`.

One round of it, under one synchronization discipline.  A round that breaks the discipline goes on
for a while, to learn of other cells that break it as well; `mazurka.stateful.rounds` then starts
the next.  A violation that it finds meanwhile is real.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.analysis.discipline import Broken, Discipline
from mazurka.analysis.laws import MoverUse
from mazurka.errors import InternalError
from mazurka.ir.interpreter import State, Step
from mazurka.ir.native.step import NativeProgram
from mazurka.search import Move, Observer, SearchOptions
from mazurka.stateful import blocks
from mazurka.stateful.discipline_tables import DisciplineTables
from mazurka.stateful.kernel_search import StackSearch
from mazurka.stateful.memory import Area
from mazurka.stateful.variants import Completion

LOOK_AHEAD = 8
"""How many successors are made before the first is looked up, where all threads are explored."""
LINGER = 1 << 12
"""How many transitions a round that has broken the discipline goes on for at least."""


@dataclass(frozen=True, kw_only=True)
class Transaction:
    """How a strategy searches."""

    completion: Completion
    mover_use: MoverUse
    inner_loop: bool = False


class TransactionRound(StackSearch):
    """One search under one discipline."""

    kernel_name = "transactions"

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        how: Transaction,
        discipline: Discipline,
    ) -> None:
        super().__init__(native, options, observer)
        self.how = how
        self.discipline = discipline
        self.tables = DisciplineTables(self.view, discipline, how.mover_use)
        self.info_bytes = info_bytes(len(self.layout.program.threads), how.mover_use)
        self.broken: Broken | None = None
        self.broken_at: tuple[State, Step] | None = None
        self.last_transition = 0
        self.enter_search()

    def enter_search(self) -> None:
        view, numbers, words = self.view, self.numbers, self.layout.words
        view.keep(blocks.INFO, Area(self.limit_bytes // 8, scattered=True))
        self.enter_initial_state(
            blocks.BUFFER, LOOK_AHEAD * (words + blocks.SUCCESSOR_WORDS) + words
        )
        numbers[blocks.MOST_SUCCESSORS] = LOOK_AHEAD
        self.enter_initial_state(blocks.INITIAL, words)
        view.keep(blocks.INITIAL_MASKS, self.local_masks())
        numbers[blocks.INFO_BYTES] = self.info_bytes
        numbers[blocks.COMPLETION] = self.how.completion
        numbers[blocks.INNER_LOOP] = self.how.inner_loop

    def local_masks(self) -> Area:
        """For each thread the bits of its local cells."""
        words, program = self.layout.words, self.layout.program
        masks = Area(words * len(program.threads))
        for cell, slot in zip(program.cells, self.layout.slots, strict=True):
            if cell.owner is not None and slot.width:
                masks.words[cell.owner * words + slot.word] |= slot.mask << slot.shift
        return masks

    # --- what stands on the stack -------------------------------------------------------------

    def state_at(self, frame: int) -> State:
        return self.layout.unpack(self.words_at(frame))

    def move_of(self, frame: int) -> Move:
        """The move last tried in a frame."""
        word = self.frames.words[frame]
        width = blocks.FRAME_TID_SHIFT - blocks.FRAME_CHOICE_SHIFT
        choice = word >> blocks.FRAME_CHOICE_SHIFT & (1 << width) - 1
        width = blocks.FRAME_NUM_SHIFT - blocks.FRAME_TID_SHIFT
        return Move(word >> blocks.FRAME_TID_SHIFT & (1 << width) - 1, choice - 1)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame."""
        moves: list[Move] = []
        for earlier in range(frame):
            move = self.move_of(earlier)
            moves.append(move)
            if self.how.inner_loop:
                moves += self.steps_between(earlier, move)
        return tuple(moves)

    def steps_between(self, frame: int, move: Move) -> Iterator[Move]:
        """The invisible steps that were run through on the way to the next frame."""
        goal = self.state_at(frame + 1)
        interpreter = self.conductor.interpreter
        state = interpreter.step(self.state_at(frame), move.thread, move.choice).state
        while state != goal:
            yield Move(move.thread)
            state = interpreter.step(state, move.thread).state

    # --- slices -------------------------------------------------------------------------------

    def slice(self, budget: int) -> bool:
        """A round that has broken its discipline is over some time after that."""
        if self.broken is not None:
            budget = min(budget, self.last_transition - self.numbers[blocks.TRANSITIONS])
        over = super().slice(budget)
        transitions = self.numbers[blocks.TRANSITIONS]
        return over or (self.broken is not None and transitions >= self.last_transition)

    def deal_with(self, reason: int) -> bool:
        if reason == blocks.BROKEN:
            self.refine(self.numbers[blocks.FRAME])
        return super().deal_with(reason)

    def mark_bytes(self) -> int:
        return self.store.size * self.info_bytes

    def refine(self, frame: int) -> None:
        """The kernel has met an access that the discipline forbids: find another discipline."""
        self.tables.read_back()
        move = Move(self.numbers[blocks.MOVE_THREAD], self.numbers[blocks.MOVE_CHOICE])
        found = self.breaking_step(self.state_at(frame), move)
        if self.broken is None:
            self.broken, self.broken_at = found[0], found[1:]
            done = self.numbers[blocks.TRANSITIONS]
            self.last_transition = 2 * done + LINGER
        self.tables.enter()

    def breaking_step(self, state: State, move: Move) -> tuple[Broken, State, Step]:
        """Let the discipline look at the step in question, and at those run through behind it."""
        interpreter = self.conductor.interpreter
        while True:
            step = interpreter.step(state, move.thread, move.choice)
            try:
                self.discipline.mover(state, step)
            except Broken as broken:
                return broken, state, step
            if not self.how.inner_loop or not step.happened or step.state == state:
                raise InternalError("the native code sees a broken discipline, the interpreter not")
            state, move = step.state, Move(move.thread)


def info_bytes(threads: int, mover_use: MoverUse) -> int:
    """Bytes for each state: flags, and a bit for each thread that can be before its commit."""
    bits = blocks.INFO_FIRST_THREAD + (threads if mover_use is MoverUse.FULL else 0)
    return -(-bits // 8)
