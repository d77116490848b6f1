"""Cartesian search: the Python side of `mazurka.stateful.kernels.cartesian`.

Owns the arrays of the vector that is being made, and runs the kernel slice by slice.  What it finds
becomes a schedule in `mazurka.stateful.cartesian_schedules`; `mazurka.stateful.cartesian_workers`
makes several vectors at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import State
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import FAULTS, Fault
from mazurka.search import Observer, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.cartesian_schedules import VectorSchedules
from mazurka.stateful.conduct import Conductor
from mazurka.stateful.kernel_cache import kernel
from mazurka.stateful.memory import Area
from mazurka.stateful.store import Store
from mazurka.stateful.variants import CycleRule, Finished
from mazurka.stateful.view import ProgramView

ORIGIN_BYTES = 16
MOST_THREADS = 64
FIRST_PREFIXES = 64
FIRST_PASSED = 1 << 12
SHORT_FOOTPRINT = 64
RULES = (CycleRule.RETURN, CycleRule.LITERAL, CycleRule.TABLE1)
BOUND_WANTED = 1 << FAULTS.index(Fault.BOUND) + 1


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
        numbers[blocks.RECORDING_STEP] = native.recording_step.address
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


VECTOR_TROUBLES = (blocks.FOOTPRINT_FULL, blocks.PREFIXES_FULL, blocks.PASSED_FULL)


class CartesianSearch:
    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        how: Vectors,
    ) -> None:
        self.layout = native.layout
        self.how = how
        self.view = VectorView(native, options, how)
        self.numbers = self.view.block.numbers
        self.conductor = Conductor(native, options, observer)
        limit = self.conductor.limit_bytes
        self.store = Store(
            self.view.block, self.layout.words, inline=False, limit_bytes=limit, observer=observer
        )
        self.view.keep(blocks.ORIGINS, Area(limit // ORIGIN_BYTES))
        self.view.keep(blocks.LENGTHS, Area(limit // ORIGIN_BYTES))
        initial = Area(self.layout.words)
        for at, word in enumerate(self.layout.pack(native.program.initial_state())):
            initial.words[at] = word
        self.view.keep(blocks.BUFFER, initial)
        self.schedules = VectorSchedules(self.view, self.store, self.conductor.interpreter)
        self.kernel = kernel("cartesian", observer)

    def covered(self) -> set[State]:
        """The states whose vectors have been made, or are to be made."""
        positions = range(self.store.size)
        words = self.layout.words
        return {self.layout.unpack(self.store.words_at(at, words)) for at in positions}

    def run(self) -> SearchResult:
        return self.conductor.run(self.slice)

    def slice(self, budget: int) -> bool:
        """Run one slice and deal with its outcome; whether the search is over."""
        reason = self.do(blocks.JOB_SEARCH, budget)
        self.count()
        return self.deal_with(reason)

    def do(self, job: int, budget: int = 0) -> int:
        self.numbers[blocks.JOB], self.numbers[blocks.BUDGET] = job, budget
        return self.kernel(self.view.block.address)

    def count(self) -> None:
        self.conductor.count(
            states=self.store.size,
            transitions=self.counted_transitions(),
            depth=self.numbers[blocks.DEEPEST],
            table_bytes=self.store.used_bytes(),
            other_bytes=self.other_bytes(),
            peak_bytes=self.store.peak_bytes,
        )

    def counted_transitions(self) -> int:
        """As the paper counts in its mode, else without the loops of threads that do not move."""
        if self.how.rule is CycleRule.TABLE1:
            return self.numbers[blocks.PAPER_TRANSITIONS]
        return self.numbers[blocks.TRANSITIONS]

    def other_bytes(self) -> int:
        """What is in use beside the store."""
        return self.store.size * ORIGIN_BYTES + self.view.vector_bytes

    def available_bytes(self) -> int:
        """What the arrays of the vector may take."""
        used = self.store.used_bytes() + self.other_bytes() - self.view.vector_bytes
        return self.conductor.limit_bytes - used

    def deal_with(self, reason: int) -> bool:
        """Whether the search is over for this reason."""
        if reason == blocks.STORE_FULL:
            return not self.store.grow(self.other_bytes()) and self.conductor.out_of_memory()
        if reason in VECTOR_TROUBLES:
            enlarged = self.view.make_room(reason, self.available_bytes())
            return not enlarged and self.conductor.out_of_memory()
        if reason in (blocks.FAULT, blocks.STUCK):
            return self.report()
        return reason == blocks.DONE

    def report(self) -> bool:
        """Tell what the last vector contains; whether the search is over."""
        position, conductor = self.numbers[blocks.POSITION] - 1, self.conductor
        for state, move, path in self.schedules.faults(position):
            if conductor.confirm_fault(list(self.layout.pack(state)), move, path):
                return True
        if self.numbers[blocks.STUCK_TOGETHER]:
            state, path = self.schedules.deadlock(position)
            if conductor.confirm_deadlock(list(self.layout.pack(state)), path):
                return True
        if conductor.violation is not None:
            self.look_away(self.view)
        return False

    def look_away(self, view: ProgramView) -> None:
        """One violation is enough: from now on only bounds that are passed are of interest."""
        view.block.numbers[blocks.FAULTS_WANTED] &= BOUND_WANTED
        view.block.numbers[blocks.DEADLOCK_WANTED] = 0
