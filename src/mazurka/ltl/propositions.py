"""The names that propositions may use in a program: shared cells, locals of threads, locations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from mazurka.errors import read_number, suggest
from mazurka.ir.expressions import ZERO, Binary, Const, Expr, Load, children, walk
from mazurka.ir.program import FINISHED, Program, Role, Thread
from mazurka.ltl.formulas import Formula

END = "end"
"""The location of a thread that has ended."""


Name = TypeVar("Name", str, tuple[int, str])

LARGEST = (1 << 63) - 1
"""Of numbers in native code, which is where propositions are evaluated."""


class UnknownNameError(Exception):
    """A formula names something that the program does not have."""


class ProgramNames:
    """Looks names up in a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.shared: dict[str, int] = {}
        self.locals: dict[tuple[int, str], int] = {}
        self.threads: dict[str, int] = {}
        self.ambiguous: set[str | tuple[int, str]] = set()
        """Names of several cells: a formula would be about one of them, and nobody knew which."""
        for number, thread in enumerate(program.threads):
            if not thread.observer:
                self.threads.setdefault(thread.name, number)
        for address, cell in enumerate(program.cells):
            if address == 0 or cell.role is Role.COUNTER or cell.is_temporary:
                continue
            if cell.owner is None:
                self._add(self.shared, cell.name, address)
            else:
                self._add(self.locals, (cell.owner, cell.name), address)

    def _add(self, table: dict[Name, int], name: Name, address: int) -> None:
        if table.setdefault(name, address) != address:
            self.ambiguous.add(name)

    def has(self, name: str) -> bool:
        """Whether a shared cell or a constant has this name."""
        return name in self.shared or name in self.program.constants

    def variable(self, name: str) -> Expr:
        """The value of a shared cell, or of a constant of the model."""
        if name in self.ambiguous:
            raise UnknownNameError(f"several shared variables are called {name!r}")
        if name in self.shared:
            return Load(Const(self.shared[name]))
        if name in self.program.constants:
            return Const(self.program.constants[name])
        parts = [each for each in self.shared if each.startswith((f"{name}[", f"{name}."))]
        if parts:
            raise UnknownNameError(f"{name!r} has parts; name one of them, as in {parts[0]!r}")
        owners = [thread for thread, own in self.locals if own == name]
        if owners:
            example = f"{self.program.threads[owners[0]].name}.{name}"
            raise UnknownNameError(f"{name!r} is local; name the thread as well, as in {example!r}")
        raise UnknownNameError(
            f"there is no shared variable {name!r}{suggest(name, [*self.shared, *self.threads])}"
        )

    def thread(self, name: str) -> int:
        if name not in self.threads:
            known = ", ".join(self.threads)
            raise UnknownNameError(f"there is no thread {name!r}; there are: {known}")
        return self.threads[name]

    def local(self, thread: str, name: str) -> Expr:
        """The value of a thread's local variable."""
        number = self.thread(thread)
        if (number, name) not in self.locals:
            own = [each for owner, each in self.locals if owner == number]
            raise UnknownNameError(
                f"thread {thread!r} has no local variable {name!r}{suggest(name, own)}"
            )
        if (number, name) in self.ambiguous:
            raise UnknownNameError(f"thread {thread!r} has several local variables {name!r}")
        return Load(Const(self.locals[number, name]))

    def location(self, thread: str, place: str) -> Expr:
        """Whether a thread is at a line, or has ended."""
        automaton = self.program.threads[self.thread(thread)]
        if place == END:
            return _is_one_of(automaton, [FINISHED])
        line = read_number(place)
        found = [
            location
            for location in range(len(automaton.locations))
            if any(edge.span.line == line for edge in automaton.edges_at(location))
        ]
        if not found:
            lines = sorted({edge.span.line for edge in automaton.edges})
            known = ", ".join(map(str, lines))
            raise UnknownNameError(
                f"thread {thread!r} does nothing in line {line}; it has: {known}"
            )
        return _is_one_of(automaton, found)


def _is_one_of(thread: Thread, locations: Iterable[int]) -> Expr:
    here = Load(Const(thread.counter))
    tests = [Binary("eq", here, Const(each)) for each in locations]
    whole: Expr = tests[0]
    for test in tests[1:]:
        whole = Binary("or", whole, test)
    return whole


def reads_only_shared(program: Program, propositions: Iterable[Expr]) -> bool:
    """Whether propositions read shared cells alone: no locals and no program counters."""
    cells = program.cells
    read = [
        cells[each.address.value]
        for proposition in propositions
        for each in walk(proposition)
        if isinstance(each, Load) and isinstance(each.address, Const)
    ]
    return all(cell.owner is None and cell.role is not Role.COUNTER for cell in read)


def may_merge(program: Program, formula: Formula, *, fair: bool) -> bool:
    """Whether a formula cannot tell merged steps from single ones.

    It must not count steps, nor see what local steps change.  And unless runs are fair, no thread
    may have an assumption: a thread that is passed over for ever right before it is not stopped,
    and its run counts, but a merged step would take the thread there.
    """
    if formula.has_next or not reads_only_shared(program, formula.propositions):
        return False
    return fair or not program.has_assumptions


def fits_a_word(program: Program, value: Expr) -> bool:
    """Whether no part of a sum can need more than 64 bits, whatever the cells hold."""
    return isinstance(value, Load) or _find_largest(program, value) <= LARGEST


def _find_largest(program: Program, value: Expr) -> int:
    """A number that no part of a sum exceeds, whatever its sign."""
    match value:
        case Const(number):
            return abs(number)
        case Load(Const(address)):
            cell = program.cells[address]
            return max(map(abs, (cell.low, cell.high, cell.initial)))
    return sum(_find_largest(program, part) for part in children(value))


def as_truth(value: Expr) -> Expr:
    """A value as a proposition."""
    return Binary("ne", value, ZERO)
