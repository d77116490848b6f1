"""What expressions denote while a program is elaborated: values and places.

A pointer is the address of a cell.  Numbers that are not addresses and are converted to pointers
lie far away from all cells (`FAR`), functions below zero; so neither can be mistaken for an
address, and following one is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from mazurka.frontend.c.types import CType
from mazurka.frontend.kit.arithmetic import binary, both, conditional, element
from mazurka.frontend.kit.shapes import MOST_CELLS
from mazurka.ir.expressions import ZERO, Binary, Const, Element, Expr, Load

NOWHERE = 1 << 44
"""A pointer that was never set."""
MOST_KEYS = 16
"""The most keys of a program."""
NO_RESULT = NOWHERE + 1
"""The result of a thread whose function ends without one."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value of a scalar expression."""

    type: CType
    expr: Expr
    inside: tuple[CType, int] | None = None
    """For a `char *`: so many bytes behind the beginning of an object of that type, where `expr`
    is the address of the object."""

    @property
    def constant(self) -> int | None:
        return self.expr.value if isinstance(self.expr, Const) else None


def compare_address(operator: str, address: Expr, bound: int) -> Expr:
    """Compare an address with a constant, in as few words as possible: such comparisons stand by
    the hundred in the checks of one access."""
    base, offset = strip_address(address)
    return binary(operator, base, Const(bound - offset))


def strip_address(address: Expr) -> tuple[Expr, int]:
    """An expression for the same address, and what has to be added to it.

    An address inside of a part of memory from here on (`CLowering.in_memory`) is what it is made
    of; nothing that is compared is so large that sums of it would wrap around."""
    match address:
        case Binary("add", inner, Const(offset)) if not isinstance(inner, Const):
            base, before = strip_address(inner)
            return base, before + offset
        case Element(Const(first), Binary("sub", inner, Const(least)), length, 1) if (
            first == least and length == MOST_CELLS
        ):
            return inner, 0
        case _:
            return address, 0


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """Objects of one form, one behind the other, each with a cell beside it that tells something of
    it: what, the subclasses say."""

    first: int
    """The address of the first one."""
    size: int
    """How many cells each one has."""
    beside: int
    """The cell that belongs to the first one."""
    stride: int = 1
    """The distance from one to the next, and from the cell of one to that of the next."""
    count: int = 1

    @property
    def last(self) -> int:
        """The last cell of the last object."""
        return self.first + (self.count - 1) * self.stride + self.size - 1

    def __contains__(self, address: int) -> bool:
        return self.first <= address <= self.last

    def position(self, address: Expr) -> Expr:
        """Which of the objects an address inside the row belongs to."""
        return binary("div", self._distance(address), Const(self.stride))

    def _distance(self, address: Expr) -> Expr:
        base, offset = strip_address(address)
        return binary("sub", base, Const(self.first - offset))

    def offset(self, address: Expr) -> Expr:
        """How far an address inside the row is behind the beginning of its object."""
        distance = self._distance(address)
        return distance if self.count == 1 else binary("rem", distance, Const(self.stride))

    def at(self, position: Expr, offset: int = 0) -> Expr:
        """The address of a cell of one of the objects."""
        return self._along(self.first + offset, position)

    def _along(self, start: int, position: Expr) -> Expr:
        if self.count == 1:
            return Const(start)
        return element(Const(start), position, self.count, self.stride)

    def includes(self, address: Expr) -> Expr:
        """Whether an address is in the row."""
        return both(
            compare_address("ge", address, self.first), compare_address("le", address, self.last)
        )

    def begins(self, address: Expr) -> Expr:
        """Whether an address is that of one of the objects, not of a part of it."""
        if self.count == 1:
            return compare_address("eq", address, self.first)
        return both(self.includes(address), binary("eq", self.offset(address), ZERO))


@dataclass(frozen=True, slots=True)
class MortalRow(ObjectRow):
    """Objects that may end: the cell beside each says whether it is alive."""

    number: int = -1
    """The number of the first one among those whose addresses are compared (`addresses.py`)."""
    thread: int = 0
    """Of variables the thread on whose stack they are."""

    def life(self, position: Expr) -> Expr:
        """The cell that says whether one of the objects is alive."""
        return self._along(self.beside, position)


@dataclass(frozen=True, slots=True)
class SizedRow(ObjectRow):
    """Arrays whose length is found at run time: the cell beside each says how many elements it has.

    Those behind are room that is not used."""

    element: int = 1
    """How many cells an element has."""

    def used(self, position: Expr) -> Expr:
        """How many cells of one of the objects are used."""
        length = Load(self.length(position))
        return binary("mul", length, Const(self.element)) if self.element > 1 else length

    def length(self, position: Expr) -> Expr:
        """The cell that says how many elements one of the objects has."""
        return self._along(self.beside, position)


@dataclass(frozen=True, slots=True)
class AddressTable:
    """The cells that say which objects have the same address."""

    same: int
    apart: int
    count: int
    lives: int = 0
    """The first of the cells that say which threads are alive, in the table of threads."""

    def of(self, first: int, number: Expr) -> Expr:
        """The cell of an object in one of the two parts."""
        return element(Const(first), number, self.count, 1)


Row = TypeVar("Row", bound=ObjectRow)


def choose_by_row(
    rows: Sequence[Row], address: Expr, found: Callable[[Row], Expr], otherwise: Expr
) -> Expr:
    """What is found for the row in which an address is, by bisection: rows lie apart."""
    rows = sorted(rows, key=lambda row: row.first)
    if not rows:
        return otherwise
    if len(rows) == 1:
        return conditional(rows[0].includes(address), found(rows[0]), otherwise)
    middle = len(rows) // 2
    return conditional(
        compare_address("lt", address, rows[middle].first),
        choose_by_row(rows[:middle], address, found, otherwise),
        choose_by_row(rows[middle:], address, found, otherwise),
    )


@dataclass(frozen=True, slots=True)
class Whole:
    """The value of a structure: its cells, in order."""

    type: CType
    exprs: tuple[Expr, ...]
    written: tuple[Expr, ...] = ()
    """Whether each cell has a value; all have one where this is empty."""


@dataclass(frozen=True, slots=True)
class BitNeighbour:
    """A bit-field that is one memory location with another one (C11, 3.14)."""

    distance: int
    """How many cells it is behind the other one."""
    type: CType
    bits: int
    name: str


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """An object that an expression denotes."""

    type: CType
    address: Expr
    shared: bool
    """Whether other threads may access it."""
    title: str
    bits: int | None = None
    """The width of a bit-field."""
    variable: str = ""
    """The key of a variable that may be without a value."""
    direct: bool = True
    """Whether the object is known to exist: no pointer led to it."""
    viewed: bool = False
    """Whether a pointer or a union led to it: the cell may hold a number of the other sign."""
    unlike: bool = False
    """Whether it is inside of a union with unlike members."""
    rivals: tuple[Expr, ...] = ()
    """Cells of other members of such unions, which lose their values when it is written."""
    neighbours: tuple[BitNeighbour, ...] = ()
    """Of a bit-field those that are read and written again when it is written."""
    root: int = 0
    """An address inside the object where `address` does not show one."""

    def at(self, type_: CType, address: Expr, title: str, bits: int | None = None) -> ObjectPlace:
        """A part of the object."""
        part = replace(self, type=type_, address=address, title=title, bits=bits, variable="")
        return replace(part, neighbours=()) if self.neighbours else part

    def pinned(self, address: Expr, root: int) -> ObjectPlace:
        """The same object, with its address kept in a cell."""
        return replace(self, address=address, root=self.root or root)


def find_root(address: Expr) -> int:
    """The constant on which an address is built."""
    match address:
        case Const(value):
            return value
        case Element(base=base):
            return find_root(base)
        case Binary("add", left, _):
            return find_root(left)
        case _:
            return 0
