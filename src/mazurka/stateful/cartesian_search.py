"""Cartesian search: the Python side of `mazurka.stateful.kernels.cartesian`.

Owns the arrays of the vector that is being made, runs the kernel slice by slice, and turns prefixes
into schedules.  Deadlocks are looked for where the kernel sees that every thread may be stuck: the
vector is made again on the interpreter, and its combinations are examined (`stateful.cartesian`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import State
from mazurka.ir.native import NativeProgram
from mazurka.stateful import blocks
from mazurka.stateful.cartesian import Cartesian, CycleRule, Finished, stuck_together
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.engine import kernel
from mazurka.stateful.memory import Area
from mazurka.stateful.store import Store
from mazurka.stateful.strategy import Move, Observer, SearchOptions, SearchResult
from mazurka.stateful.view import View

ORIGIN_BYTES = 16
MOST_THREADS = 64
FIRST_PREFIXES = 64
FIRST_PASSED = 1 << 12
SHORT_FOOTPRINT = 64
RULES = (CycleRule.RETURN, CycleRule.LITERAL, CycleRule.TABLE1)


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """How vectors are made and counted."""

    rule: CycleRule = CycleRule.RETURN
    finished: Finished = Finished.EXITS


class CartesianSearch:
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        how: Vectors,
    ) -> None:
        self.layout = native.layout
        self.program = native.program
        self.how = how
        if len(self.program.threads) > MOST_THREADS:
            raise UnsupportedError(
                f"{len(self.program.threads)} threads; cartesian vectors take at most"
                f" {MOST_THREADS}"
            )
        self.conductor = Conductor(native, options, observer)
        self.view = View(native, options)
        self.numbers = self.view.block.numbers
        limit = self.conductor.limit_bytes
        self.store = Store(
            self.view.block, self.layout.words, inline=False, limit_bytes=limit, observer=observer
        )
        self.enter_search(limit)
        self.enter_vector(FIRST_PREFIXES, SHORT_FOOTPRINT)
        self.enter_passed(FIRST_PASSED)
        self.kernel = kernel("cartesian", observer)

    def enter_search(self, limit: int) -> None:
        view, numbers = self.view, self.numbers
        cells = self.program.cells
        view.keep(blocks.ORIGINS, Area(limit // ORIGIN_BYTES))
        view.keep(blocks.LENGTHS, Area(limit // ORIGIN_BYTES))
        buffer = Area(self.layout.words)
        for position, word in enumerate(self.layout.pack(self.program.initial_state())):
            buffer.words[position] = word
        view.keep(blocks.BUFFER, buffer)
        view.keep(blocks.MARKS, Area(len(cells) * blocks.MARK_FIELDS))
        view.keep(blocks.MARK_EPOCH, Area(len(cells)))
        view.keep(
            blocks.OWNERS, Area.of(0 if cell.owner is None else cell.owner + 1 for cell in cells)
        )
        numbers[blocks.RECORDING_STEP] = view.native.recording_step.address
        numbers[blocks.CELLS], numbers[blocks.EDGES] = len(cells), len(self.program.edges)
        numbers[blocks.CYCLE_RULE] = RULES.index(self.how.rule)
        numbers[blocks.LOOPS_COUNTED] = self.how.finished is Finished.LOOPS

    def enter_vector(self, prefixes: int, footprint: int) -> None:
        """Room for so many prefixes, and footprints of this many words."""
        view, numbers = self.view, self.numbers
        self.view.lengthen_footprint(footprint)
        numbers[blocks.MOST_PREFIXES] = prefixes
        view.keep(blocks.PREFIXES, Area(prefixes * blocks.PREFIX_FIELDS))
        view.keep(blocks.PREFIX_STATES, Area((prefixes + 1) * self.layout.words))
        view.keep(blocks.FEET, Area(prefixes * footprint))

    def enter_passed(self, capacity: int) -> None:
        self.view.keep(blocks.PASSED_TABLE, Area(capacity))
        self.view.keep(blocks.PASSED, Area((capacity // 2 + 1) * (self.layout.words + 1)))
        self.numbers[blocks.PASSED_CAPACITY] = capacity

    # --- schedules ----------------------------------------------------------------------------

    def words_at(self, position: int) -> list[int]:
        return self.store.words_at(position, self.layout.words)

    def path(self, position: int) -> tuple[Move, ...]:
        """The schedule that leads to the state at a position of the log."""
        thread_bits = blocks.ORIGIN_POSITION_SHIFT - blocks.ORIGIN_THREAD_SHIFT
        origins, lengths = self.view.kept[blocks.ORIGINS], self.view.kept[blocks.LENGTHS]
        parts: list[tuple[Move, ...]] = []
        while position > 0:
            origin = origins.words[position]
            thread = origin >> blocks.ORIGIN_THREAD_SHIFT & (1 << thread_bits) - 1
            choice = origin & (1 << blocks.ORIGIN_THREAD_SHIFT) - 1
            before = origin >> blocks.ORIGIN_POSITION_SHIFT
            start = self.layout.unpack(self.words_at(before))
            parts.append(self.walk(start, Move(thread, choice), lengths.words[position])[0])
            position = before
        return tuple(move for part in reversed(parts) for move in part)

    def walk(self, state: State, move: Move, length: int) -> tuple[tuple[Move, ...], State]:
        """The moves of a prefix of this length, and the state behind them."""
        moves: list[Move] = []
        for _ in range(length):
            step = self.conductor.interpreter.step(state, move.thread, move.choice)
            if step.happened:
                moves.append(move)
            state, move = step.state, Move(move.thread, self.only_choice(step.state, move.thread))
        return tuple(moves), state

    def only_choice(self, state: State, thread: int) -> int:
        """The choice of a thread's only step; 0 where it has several."""
        interpreter = self.conductor.interpreter
        valid = [
            choice
            for choice in range(interpreter.choices(state, thread))
            if interpreter.step(state, thread, choice).outcome != "invalid"
        ]
        return valid[0] if len(valid) == 1 else 0

    # --- slices -------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        numbers = self.numbers
        numbers[blocks.BUDGET] = budget
        reason = self.kernel(self.view.block.address)
        other = self.store.size * ORIGIN_BYTES
        self.conductor.count(
            states=self.store.size,
            transitions=self.counted_transitions(),
            depth=0,
            table_bytes=self.store.used_bytes(),
            other_bytes=other,
            peak_bytes=self.store.peak_bytes,
        )
        match reason:
            case blocks.STORE_FULL:
                return not self.store.grow(other) and self.conductor.out_of_memory()
            case blocks.FOOTPRINT_FULL:
                length = 2 * numbers[blocks.FOOTPRINT_LENGTH]
                self.enter_vector(numbers[blocks.MOST_PREFIXES], length)
            case blocks.PREFIXES_FULL:
                length = numbers[blocks.FOOTPRINT_LENGTH]
                self.enter_vector(2 * numbers[blocks.MOST_PREFIXES], length)
            case blocks.PASSED_FULL:
                self.enter_passed(2 * numbers[blocks.PASSED_CAPACITY])
            case blocks.FAULT | blocks.STUCK:
                return self.faults() or (bool(numbers[blocks.END]) and self.deadlocks())
        return reason == blocks.DONE

    def counted_transitions(self) -> int:
        """As the paper counts in its mode, else without the loops of threads that do not move."""
        if self.how.rule is CycleRule.TABLE1:
            return self.numbers[blocks.PAPER_TRANSITIONS]
        return self.numbers[blocks.TRANSITIONS]

    def faults(self) -> bool:
        """Report the faults of the last vector."""
        position = self.numbers[blocks.POSITION] - 1
        fields = self.view.kept[blocks.PREFIXES].numbers
        start = self.layout.unpack(self.words_at(position))
        for prefix in range(self.numbers[blocks.PREFIX_COUNT]):
            base = prefix * blocks.PREFIX_FIELDS
            failing = fields[base + blocks.PREFIX_FAULT]
            if not failing:
                continue
            first = Move(fields[base + blocks.PREFIX_THREAD], fields[base + blocks.PREFIX_CHOICE])
            moves, state = self.walk(start, first, failing - 1)
            last = first
            if failing > 1:
                last = Move(first.thread, self.only_choice(state, first.thread))
            words = list(self.layout.pack(state))
            if self.conductor.fault(words, last, partial(self.path_through, position, moves)):
                return True
        return False

    def path_through(self, position: int, moves: tuple[Move, ...]) -> tuple[Move, ...]:
        return (*self.path(position), *moves)

    def deadlocks(self) -> bool:
        """Examine the combinations of prefixes of the last vector that are all stuck."""
        position = self.numbers[blocks.POSITION] - 1
        start = self.layout.unpack(self.words_at(position))
        reference = Cartesian(self.program, self.how.rule, self.how.finished)
        for end in stuck_together(self.program, start, reference.calc_cv(start)):
            words = list(self.layout.pack(end.state))
            path = partial(self.path_through, position, end.moves)
            if self.conductor.deadlock(words, path):
                return True
        return False


def search_cartesian(
    native: NativeProgram, options: SearchOptions, observer: Observer, how: Vectors
) -> SearchResult:
    return CartesianSearch(native, options, observer, how).run()
