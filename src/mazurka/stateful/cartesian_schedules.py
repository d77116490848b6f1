"""Reads schedules off the vectors of a cartesian search.

A state of the search is the end of a prefix of an earlier one.  The search notes which state, the
prefix's first move and its length; the steps themselves are found again on the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.search import Move
from mazurka.stateful import blocks
from mazurka.stateful.store import Store
from mazurka.stateful.view import ProgramView

Moves: TypeAlias = tuple[Move, ...]

WAITS, STOPPED = -1, -2
"""What the step function says of a thread that cannot move now, and of a failed assumption."""


@dataclass(frozen=True)
class PrefixRecord:
    """A prefix of the last vector, as the kernel has left it."""

    first: Move
    length: int
    flags: int
    result: int
    """What the step function said about the last step."""
    failing: int
    """The number of the step that failed, 0 for none."""

    @property
    def moves_first(self) -> bool:
        return bool(self.flags & blocks.PREFIX_FIRST_MOVED)


class VectorSchedules:
    """How to get to what a search has found."""

    def __init__(self, view: ProgramView, store: Store, interpreter: Interpreter) -> None:
        self.view = view
        self.store = store
        self.layout = view.layout
        self.interpreter = interpreter

    def state_at(self, position: int) -> State:
        return self.layout.unpack(self.store.words_at(position, self.layout.words))

    def path(self, position: int) -> Moves:
        """The schedule that leads to the state at a position of the log."""
        thread_bits = blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT
        origins, lengths = self.view.kept[blocks.ORIGINS], self.view.kept[blocks.LENGTHS]
        parts: list[Moves] = []
        while position > 0:
            origin = origins.words[position]
            thread = origin >> blocks.ORIGIN_THREAD_SHIFT & (1 << thread_bits) - 1
            choice = origin & (1 << blocks.ORIGIN_THREAD_SHIFT) - 1
            before = origin >> blocks.ORIGIN_POSITION_SHIFT
            start = self.state_at(before)
            parts.append(self.walk(start, Move(thread, choice), lengths.words[position])[0])
            position = before
        return tuple(move for part in reversed(parts) for move in part)

    def path_through(self, position: int, moves: Moves) -> Moves:
        return (*self.path(position), *moves)

    def walk(self, state: State, move: Move, length: int) -> tuple[Moves, State]:
        """The moves of a prefix of this length, and the state behind them."""
        moves: list[Move] = []
        for _ in range(length):
            step = self.interpreter.step(state, move.thread, move.choice)
            if step.happened:
                moves.append(move)
            state, move = step.state, Move(move.thread, self.only_choice(step.state, move.thread))
        return tuple(moves), state

    def only_choice(self, state: State, thread: int) -> int:
        """The choice of a thread's only step; 0 where it has several."""
        choices = self.interpreter.choices(state, thread)
        if choices == 1:
            return 0
        valid = [
            choice
            for choice in range(choices)
            if self.interpreter.step(state, thread, choice).outcome is not Outcome.INVALID
        ]
        return valid[0] if len(valid) == 1 else 0

    # --- the last vector ----------------------------------------------------------------------

    def prefixes(self) -> Iterator[PrefixRecord]:
        fields = self.view.kept[blocks.PREFIXES].numbers
        count = self.view.block.numbers[blocks.PREFIX_COUNT]
        for base in range(0, count * blocks.PREFIX_FIELDS, blocks.PREFIX_FIELDS):
            yield PrefixRecord(
                Move(fields[base + blocks.PREFIX_THREAD], fields[base + blocks.PREFIX_CHOICE]),
                fields[base + blocks.PREFIX_LENGTH],
                fields[base + blocks.PREFIX_FLAGS],
                fields[base + blocks.PREFIX_RESULT],
                fields[base + blocks.PREFIX_FAULT],
            )

    def faults(self, position: int) -> Iterator[tuple[State, Move, Callable[[], Moves]]]:
        """Each fault in the vector of the state at a position: where, which move, how to get there.

        Found one by one, so that nobody waits for those behind the first.
        """
        start = self.state_at(position)
        for prefix in self.prefixes():
            if prefix.failing:
                moves, state = self.walk(start, prefix.first, prefix.failing - 1)
                last = prefix.first
                if prefix.failing > 1:
                    last = Move(last.thread, self.only_choice(state, last.thread))
                yield state, last, partial(self.path_through, position, moves)

    def deadlock(self, position: int) -> tuple[State, Callable[[], Moves]]:
        """One to which the vector of the state at a position leads, and how to get there.

        The steps to the ends of different prefixes are independent: they can be taken in any order.
        """
        start = state = self.state_at(position)
        moves: list[Move] = []
        for end in self.stuck_ends():
            moves += self.walk(start, end.first, end.length)[0]
        for move in moves:
            state = self.interpreter.step(state, move.thread, move.choice).state
        return state, partial(self.path_through, position, tuple(moves))

    def stuck_ends(self) -> Iterator[PrefixRecord]:
        """For each thread that does not observe a prefix at whose end it is stuck."""
        every = list(self.prefixes())
        for number, thread in enumerate(self.view.program.threads):
            if thread.observer:
                continue
            own = [prefix for prefix in every if prefix.first.thread == number]
            moves_first = any(prefix.moves_first for prefix in own)
            stuck = [
                prefix
                for prefix in own
                if prefix.moves_first == moves_first and prefix.result < 0
                if prefix.result != STOPPED
            ]
            yield min(stuck, key=lambda prefix: prefix.result != WAITS)
