"""Which marks a program needs, where they lie, and how they are read.

There are three kinds, all of them cells with the role of synchronization:

- for each cell that a declared step may write, who has declared a write of it (thread plus one);
- for each cell that a declared step may read, the threads that have declared a read of it, as bits;
- for each thread whose marks can become void, whether they are.

The marks of all cells lie at the same distance from their cells, so that an address that is
computed leads to its mark; cells in between that have no mark get one that takes no bits.
`mazurka.ir.passes.race_marks.program` has the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mazurka.errors import UnsupportedError
from mazurka.ir.evaluated import Path, Touch, under
from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load, negate
from mazurka.ir.passes.race_marks.steps import StaticStep, find_step_accesses, steps_of
from mazurka.ir.program import Assign, Cell, Operation, Program, Role
from mazurka.ir.values.footprints import Footprints


class Marks:
    """The marks of a program: which there are, and where they lie."""

    def __init__(
        self, program: Program, cells: frozenset[int], restartable: frozenset[int]
    ) -> None:
        self.program = program
        self.cells = cells
        self.restartable = restartable
        self.footprints = Footprints(program)
        self.accesses = find_step_accesses(self.footprints)
        self.declared = [
            [step for step in steps_of(thread) if self.is_declared(number, step)]
            for number, thread in enumerate(program.threads)
        ]
        self.written = [
            {a for edge in thread.edges for a in self.footprints.of_edge(edge).writes}
            for thread in program.threads
        ]
        self.exposed = [self.find_exposed(number) for number in range(len(program.threads))]
        """By thread: its own cells that others may write while it runs."""
        self.writers: dict[int, set[int]] = {}
        """The threads that may declare a write, by cell."""
        self.readers: dict[int, set[int]] = {}
        """The threads that may declare a read, by cell: data, or synchronization."""
        self.unsteady: set[int] = set()
        """The threads whose marks can become void."""
        for number in range(len(program.threads)):
            for step in self.declared[number]:
                self.note_declared(number, step)
        self.added: list[Cell] = []
        self.write_shift = self.add_block("write of", self.writers, len(program.threads))
        self.read_shift = self.add_block("read of", self.readers, (1 << len(program.threads)) - 1)
        self.probes = {
            number: self.add(Cell("declares a step", 0, 1, owner=number))
            for number, steps in enumerate(self.declared)
            if steps
        }
        """By thread: whether it declares a step, or has done so; then it has stopped."""
        self.void = {
            number: self.add(Cell("void marks", 0, 1, role=Role.SYNC))
            for number in sorted(self.unsteady)
        }

    # --- what is declared ---------------------------------------------------------------------

    def is_declared(self, number: int, step: StaticStep) -> bool:
        if self.program.threads[number].observer or not step.is_plain:
            return False
        reads, writes = step.touched(self.footprints)
        if writes & self.cells:
            return True
        others = (each for other, each in enumerate(self.accesses) if other != number)
        return any(reads & self.cells & each.solid_writes for each in others)

    def note_declared(self, number: int, step: StaticStep) -> None:
        reads, writes = step.touched(self.footprints)
        for address in writes & self.cells:
            self.writers.setdefault(address, set()).add(number)
        for address in reads & self.cells:
            self.readers.setdefault(address, set()).add(number)
        if self.exposed[number]:
            self.unsteady.add(number)
        for address in reads:
            cell = self.program.cells[address]
            if cell.owner is not None:
                raise UnsupportedError.at(
                    step.first.span,
                    f"thread {step.thread.name} reads `{cell.name}` of another thread in the same"
                    " step as shared data; such races are looked for by `full` and `cpc`",
                )
            if not cell.can_race and self.may_be_written(address, besides=number):
                self.readers.setdefault(address, set()).add(number)
                self.unsteady.add(number)

    def find_exposed(self, number: int) -> set[int]:
        counter = self.program.threads[number].counter
        own = {a for a, cell in enumerate(self.program.cells) if cell.owner == number}
        if number not in self.restartable:
            own.discard(counter)
        return {address for address in own if self.may_be_written(address, besides=number)}

    def may_be_written(self, address: int, *, besides: int) -> bool:
        """Whether a thread other than this one may write a cell."""
        others = (each for number, each in enumerate(self.written) if number != besides)
        return any(address in each for each in others)

    # --- where the marks lie ------------------------------------------------------------------

    def add(self, cell: Cell) -> int:
        self.added.append(cell)
        return len(self.program.cells) + len(self.added) - 1

    def add_block(self, what: str, marked: Iterable[int], high: int) -> int:
        """Add a mark for each of these cells, all at the same distance, which is returned."""
        chosen = set(marked)
        if not chosen:
            return 0
        first, last = min(chosen), max(chosen)
        shift = len(self.program.cells) + len(self.added) - first
        for address in range(first, last + 1):
            most = high if address in chosen else 0
            self.add(Cell(f"{what} {self.program.cells[address].name}", 0, most, role=Role.SYNC))
        return shift

    # --- expressions --------------------------------------------------------------------------

    def restrict(
        self, number: int, touch: Touch, chosen: Iterable[int], choices: int
    ) -> tuple[Path, frozenset[int]]:
        """The conditions under which an access is to one of the chosen cells, none of them the
        thread's own, and which of the cells that may be; none of them: it never is."""
        every = frozenset(self.footprints.targets(touch.address, choices))
        own = {a for a in every if self.program.cells[a].owner == number}
        found = every.intersection(chosen) - own
        if found == every:
            return touch.path, found
        return (*touch.path, is_one_of(touch.address, found, every)), found

    def collision(self, number: int, touch: Touch, choices: int) -> Expr | None:
        """Whether an access meets a mark of another thread; None if it cannot."""
        meets: Expr = ZERO
        path, found = self.restrict(number, touch, self.cells & self.writers.keys(), choices)
        marking = set().union(*(self.writers[address] for address in found)) - {number}
        if marking:
            mark = Load(shift(touch.address, self.write_shift))
            meets = under(path, self.is_valid_writer(number, mark, marking), ZERO)
        if touch.write:
            path, found = self.restrict(number, touch, self.cells & self.readers.keys(), choices)
            marking = set().union(*(self.readers[address] for address in found)) - {number}
            if marking:
                mark = Load(shift(touch.address, self.read_shift))
                read = under(path, self.is_valid_reader(mark, marking), ZERO)
                meets = read if meets == ZERO else Conditional(meets, ONE, read)
        return None if meets == ZERO else meets

    def is_valid_writer(self, number: int, mark: Expr, marking: set[int]) -> Expr:
        steady: Expr = Binary("ne", mark, ZERO)
        if number in self.restartable:
            steady = Conditional(steady, Binary("ne", mark, Const(number + 1)), ZERO)
        for thread in sorted(marking & self.unsteady):
            valid = Binary("eq", Load(Const(self.void[thread])), ZERO)
            steady = Conditional(Binary("eq", mark, Const(thread + 1)), valid, steady)
        return steady

    def is_valid_reader(self, mark: Expr, marking: set[int]) -> Expr:
        steady = sum(1 << thread for thread in marking - self.unsteady)
        found: Expr = Binary("ne", Binary("and", mark, Const(steady)), ZERO)
        for thread in sorted(marking & self.unsteady):
            there = Binary("ne", Binary("and", mark, Const(1 << thread)), ZERO)
            valid = Binary("eq", Load(Const(self.void[thread])), ZERO)
            found = Conditional(found, ONE, Conditional(there, valid, ZERO))
        return found

    def voiding(
        self, number: int, touch: Touch, choices: int, place: Callable[[int], int]
    ) -> Iterator[Operation]:
        """Note which threads' marks a write invalidates: of synchronization, of a thread's counter.

        `place` tells by thread the cell in which that is noted."""
        for thread in sorted(self.unsteady - {number}):
            watched = {
                address
                for address, readers in self.readers.items()
                if thread in readers and address not in self.cells
            }
            path, found = self.restrict(number, touch, watched, choices)
            if found:
                void = Const(place(thread))
                mark = Load(shift(touch.address, self.read_shift))
                there = Binary("ne", Binary("and", mark, Const(1 << thread)), ZERO)
                yield Assign(void, under((*path, there), ONE, Load(void)))
            path, found = self.restrict(number, touch, self.exposed[thread], choices)
            if found:
                void = Const(place(thread))
                declared = Load(Const(self.probes[thread]))
                yield Assign(void, under((*path, declared), ONE, Load(void)))


def shift(address: Expr, distance: int) -> Expr:
    if isinstance(address, Const):
        return Const(address.value + distance)
    return Binary("add", address, Const(distance))


def is_one_of(address: Expr, found: frozenset[int], every: frozenset[int]) -> Expr:
    """Whether an address, which is one of `every`, is one of those found."""
    if found == every:
        return ONE
    if not found:
        return ZERO
    if len(found) > len(every) - len(found):
        return negate(is_one_of(address, every - found, every))
    test: Expr = ZERO
    for cell in sorted(found, reverse=True):
        same = Binary("eq", address, Const(cell))
        test = same if test == ZERO else Conditional(same, ONE, test)
    return test
