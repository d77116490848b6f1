"""Cartesian search: the Python side of `mazurka.stateful.kernels.cartesian`.

Owns the arrays of the vector that is being made, and reads schedules off vectors: a state of the
search is the end of a prefix of an earlier one.  The search notes which state, the prefix's first
move and its length; the steps themselves are found again on the interpreter.
`mazurka.stateful.searches.cartesian_workers` makes several vectors at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from mazurka.compiled.memory import Area
from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import FAULTS, Fault
from mazurka.search import Move, Observer, SearchOptions
from mazurka.stateful import blocks
from mazurka.stateful.compiled.store import Store
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.searches.breadth_first import origin_in
from mazurka.stateful.searches.kernel_search import KernelSearch
from mazurka.stateful.variants import CycleRule, Finished

Moves: TypeAlias = tuple[Move, ...]

ORIGIN_BYTES = 16
MOST_THREADS = 64
FIRST_PREFIXES = 64
FIRST_PASSED = 1 << 12
SHORT_FOOTPRINT = 64
RULES = (CycleRule.RETURN, CycleRule.LITERAL, CycleRule.TABLE1)
BOUND_WANTED = 1 << FAULTS.index(Fault.BOUND) + 1
VECTOR_TROUBLES = (blocks.FOOTPRINT_FULL, blocks.PREFIXES_FULL, blocks.PASSED_FULL)
WAITS = -1
"""What the step function says of a thread that waits."""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """How vectors are made and counted."""

    rule: CycleRule = CycleRule.RETURN
    finished: Finished = Finished.EXITS


class VectorView(ProgramView):
    """A program, and room for one vector at a time, in a block of its own."""

    def __init__(self, native: NativeProgram, options: SearchOptions, how: Vectors) -> None:
        super().__init__(native, options)
        threads, cells, numbers = self.program.threads, self.program.cells, self.block.numbers
        if len(threads) > MOST_THREADS:
            raise UnsupportedError(
                f"{len(threads)} threads; cartesian vectors take at most {MOST_THREADS}"
            )
        owners = (0 if cell.owner is None else cell.owner + 1 for cell in cells)
        self.keep(blocks.OWNERS, Area.of(owners))
        self.keep(blocks.MARKS, Area(len(cells) * blocks.MARK_FIELDS))
        self.keep(blocks.MARK_EPOCH, Area(len(cells)))
        numbers[blocks.RECORDING_STEP] = self.code(record=True)
        numbers[blocks.CELLS], numbers[blocks.EDGES] = len(cells), len(self.program.edges)
        numbers[blocks.CYCLE_RULE] = RULES.index(how.rule)
        numbers[blocks.LOOPS_COUNTED] = how.finished is Finished.LOOPS
        self.enter_vector(FIRST_PREFIXES, SHORT_FOOTPRINT)
        self.enter_passed(FIRST_PASSED)

    def enter_vector(self, prefixes: int, footprint: int) -> None:
        """Room for so many prefixes, and footprints of this many words."""
        self.lengthen_footprint(footprint)
        self.block.numbers[blocks.MOST_PREFIXES] = prefixes
        self.keep(blocks.PREFIXES, Area(prefixes * blocks.PREFIX_FIELDS))
        self.keep(blocks.PREFIX_STATES, Area((prefixes + 1) * self.layout.words))
        self.keep(blocks.FEET, Area(prefixes * footprint))

    def enter_passed(self, capacity: int) -> None:
        self.keep(blocks.PASSED_TABLE, Area(capacity))
        self.keep(blocks.PASSED, Area((capacity // 2 + 1) * (self.layout.words + 1)))
        self.block.numbers[blocks.PASSED_CAPACITY] = capacity

    def catch_up_with(self, other: VectorView) -> None:
        """What was too small for another one would be so here."""
        mine, theirs = self.block.numbers, other.block.numbers
        vector = (blocks.MOST_PREFIXES, blocks.FOOTPRINT_LENGTH)
        if any(mine[size] < theirs[size] for size in vector):
            prefixes, footprint = (max(mine[size], theirs[size]) for size in vector)
            self.enter_vector(prefixes, footprint)
        if mine[blocks.PASSED_CAPACITY] < theirs[blocks.PASSED_CAPACITY]:
            self.enter_passed(theirs[blocks.PASSED_CAPACITY])

    @property
    def vector_bytes(self) -> int:
        """What the arrays take that grow with the vectors."""
        growing = (blocks.PREFIXES, blocks.FEET, blocks.PASSED_TABLE, blocks.PASSED)
        return sum(8 * self.kept[position].length for position in growing)

    def make_room(self, reason: int, available: int) -> bool:
        """Enlarge what was too small, to at most so many bytes; the vector is begun again."""
        numbers = self.block.numbers
        prefixes, footprint = numbers[blocks.MOST_PREFIXES], numbers[blocks.FOOTPRINT_LENGTH]
        if 2 * self.vector_bytes > available:
            return False
        match reason:
            case blocks.FOOTPRINT_FULL:
                self.enter_vector(prefixes, 2 * footprint)
            case blocks.PREFIXES_FULL:
                self.enter_vector(2 * prefixes, footprint)
            case blocks.PASSED_FULL:
                self.enter_passed(2 * numbers[blocks.PASSED_CAPACITY])
        return True


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


class PrefixEnd(NamedTuple):
    """An end of a prefix at which its thread is stuck: how it gets there, and whether it waits."""

    moves: Moves
    waits: bool


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
        origins, lengths = self.view.kept[blocks.ORIGINS], self.view.kept[blocks.LENGTHS]
        parts: list[Moves] = []
        while position > 0:
            length = lengths.words[position]
            first, position = origin_in(origins.words[position])
            parts.append(self.walk(self.state_at(position), first, length)[0])
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
        if self.interpreter.choices(state, thread) == 1:
            return 0
        valid = [choice for choice, _ in self.interpreter.steps_of(state, thread)]
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

    def standstills(self, position: int) -> Iterator[tuple[State, Callable[[], Moves]]]:
        """The states to which the vector of the state at a position leads, in which nobody moves
        and somebody waits; and how to get there.

        The steps to the ends of different prefixes are independent: they can be taken in any order.
        Of ends at which a thread is stuck at the same place, for the same reason and by the same
        cells, one is enough: whether threads are deadlocked depends on nothing else.
        """
        start = self.state_at(position)
        for ends in itertools.product(*self.stuck_ends(start)):
            if any(end.waits for end in ends):
                moves, state = tuple(move for end in ends for move in end.moves), start
                for move in moves:
                    state = self.interpreter.step(state, move.thread, move.choice).state
                yield state, partial(self.path_through, position, moves)

    def stuck_ends(self, start: State) -> Iterator[list[PrefixEnd]]:
        """For each thread that does not observe, the ends of prefixes at which it is stuck."""
        every = list(self.prefixes())
        for number, thread in enumerate(self.view.program.threads):
            if thread.observer:
                continue
            own = [prefix for prefix in every if prefix.first.thread == number]
            if any(prefix.moves_first for prefix in own):
                yield self.different_ends(start, own)
            else:
                yield [PrefixEnd((), any(prefix.result == WAITS for prefix in own))]

    def different_ends(self, start: State, prefixes: list[PrefixRecord]) -> list[PrefixEnd]:
        found: dict[object, PrefixEnd] = {}
        for prefix in prefixes:
            if not prefix.moves_first or prefix.result >= 0:
                continue
            thread = prefix.first.thread
            moves, state = self.walk(start, prefix.first, prefix.length)
            steps = [step for _, step in self.interpreter.steps_of(state, thread)]
            reads = frozenset(cell for step in steps for cell in step.footprint_reads)
            reason = self.interpreter.location(state, thread), prefix.result, reads
            found.setdefault(reason, PrefixEnd(moves, prefix.result == WAITS))
        return list(found.values())


class CartesianSearch(KernelSearch):
    kernel_name = "cartesian"
    where = blocks.POSITION
    many_stuck = False
    view: VectorView

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        how: Vectors,
    ) -> None:
        super().__init__(VectorView(native, options, how), options, observer)
        self.how = how
        self.view.keep(blocks.ORIGINS, Area(self.limit_bytes // ORIGIN_BYTES))
        self.view.keep(blocks.LENGTHS, Area(self.limit_bytes // ORIGIN_BYTES))
        self.enter_initial_state(blocks.BUFFER, self.layout.words)
        self.schedules = VectorSchedules(self.view, self.store, self.conductor.interpreter)
        self.conductor.stops.sampled = True

    def covered(self) -> set[State]:
        """The states whose vectors have been made, or are to be made."""
        return {self.schedules.state_at(position) for position in range(self.store.size)}

    @property
    def expanded(self) -> int:
        return self.numbers[blocks.POSITION]

    def slice(self, budget: int) -> bool:
        self.numbers[blocks.JOB] = blocks.JOB_SEARCH
        return super().slice(budget)

    def do(self, job: int, budget: int = 0) -> int:
        self.numbers[blocks.JOB], self.numbers[blocks.BUDGET] = job, budget
        return self.kernel(self.view.block.address)

    @property
    def transitions(self) -> int:
        """As the paper counts in its mode, else without the loops of threads that do not move."""
        if self.how.rule is CycleRule.TABLE1:
            return self.numbers[blocks.PAPER_TRANSITIONS]
        return self.numbers[blocks.TRANSITIONS]

    def other_bytes(self) -> int:
        return self.store.size * ORIGIN_BYTES + self.view.vector_bytes

    def available_bytes(self) -> int:
        """What the arrays of the vector may take."""
        used = self.store.used_bytes() + self.other_bytes() - self.view.vector_bytes
        return self.conductor.limit_bytes - used

    def deal_with(self, reason: int) -> bool:
        if reason in VECTOR_TROUBLES:
            enlarged = self.view.make_room(reason, self.available_bytes())
            return not enlarged and self.conductor.out_of_memory()
        if reason in (blocks.FAULT, blocks.STUCK):
            return self.report()
        return super().deal_with(reason)

    def report(self) -> bool:
        """Tell what the last vector contains; whether the search is over."""
        position, conductor = self.numbers[blocks.POSITION] - 1, self.conductor
        for state, move, path in self.schedules.faults(position):
            if conductor.confirm_fault(list(self.layout.pack(state)), move, path):
                return True
        if self.numbers[blocks.STUCK_TOGETHER]:
            for state, path in self.schedules.standstills(position):
                if conductor.examine_stuck(list(self.layout.pack(state)), path):
                    return True
                if conductor.violation is not None:
                    break
        if conductor.violation is not None:
            self.look_away(self.view)
        return False

    def look_away(self, view: ProgramView) -> None:
        """One violation is enough: from now on only bounds that are passed are of interest."""
        view.block.numbers[blocks.FAULTS_WANTED] &= BOUND_WANTED
        view.block.numbers[blocks.DEADLOCK_WANTED] = 0
