"""What objects look like in memory: the cells of numbers, arrays, records and locks.

A *shape* is a static type.  Two references of equal shape can share a variable, so whatever the
code of an operation depends on (bounds, lock rules) belongs to the shape; first values do not,
they belong to a *blueprint*, the result of calling a constructor.  `Storage` gives objects their
cells while the program is elaborated; an address is a position in its list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mazurka.errors import MazurkaError
from mazurka.frontend.kit.arithmetic import binary, fits
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Cell, Role, Span


@dataclass(frozen=True, slots=True)
class CellForm:
    """A cell before it has an address: `suffix` is appended to the object's name."""

    suffix: str
    low: int
    high: int
    role: Role
    inferred: bool = False
    span: Span | None = None
    """Where it is declared, if that is not where the object is made."""


@dataclass(frozen=True)
class Shape:
    """The static type of an object."""

    @property
    def title(self) -> str:
        """The type as a person would write it."""
        raise NotImplementedError

    def forms(self) -> tuple[CellForm, ...]:
        """The object's cells in order of their addresses."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self.forms())

    def zero(self) -> tuple[Expr, ...]:
        """The values of the cells of an object made without arguments."""
        return (ZERO,) * self.size

    def thread_counts(self) -> Iterator[int]:
        """For how many threads each synchronization object in it was made."""
        yield from ()


@dataclass(frozen=True)
class NumberShape(Shape):
    """A number or a truth value; its range is declared, or left to inference."""

    low: int = 0
    high: int = 0
    role: Role = Role.INT
    inferred: bool = True

    @property
    def title(self) -> str:
        if self.role is Role.BOOL:
            return "Bool"
        return "Int" if self.inferred else f"Int[{self.low}, {self.high}]"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", self.low, self.high, self.role, self.inferred),)


INTEGER = NumberShape()
BOOLEAN = NumberShape(0, 1, Role.BOOL, inferred=False)
TRUTH = NumberShape(0, 1, Role.BOOL, inferred=True)
"""Begins as True or False; what it holds later is found out."""


@dataclass(frozen=True)
class ArrayShape(Shape):
    """A fixed number of objects of one shape, side by side."""

    element: Shape
    length: int

    @property
    def title(self) -> str:
        return f"Array({self.element.title}, {self.length})"

    @property
    def size(self) -> int:
        return self.element.size * self.length

    def forms(self) -> tuple[CellForm, ...]:
        return tuple(
            replace(form, suffix=f"[{position}]{form.suffix}")
            for position in range(self.length)
            for form in self.element.forms()
        )

    def zero(self) -> tuple[Expr, ...]:
        return self.element.zero() * self.length

    def thread_counts(self) -> Iterator[int]:
        return self.element.thread_counts()


@dataclass(frozen=True)
class RecordShape(Shape):
    """An instance of a class: its fields side by side."""

    name: str
    fields: tuple[tuple[str, Shape], ...]
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)
    """Where the fields are declared; what is missing is unknown."""

    @property
    def title(self) -> str:
        return self.name

    def forms(self) -> tuple[CellForm, ...]:
        return tuple(
            replace(form, suffix=f".{name}{form.suffix}", span=form.span or self.spans.get(name))
            for name, shape in self.fields
            for form in shape.forms()
        )

    def thread_counts(self) -> Iterator[int]:
        for _, shape in self.fields:
            yield from shape.thread_counts()

    def placed(self) -> Iterator[tuple[str, int, Shape]]:
        """Each field with its offset from the record's address."""
        offset = 0
        for name, shape in self.fields:
            yield name, offset, shape
            offset += shape.size


@dataclass(frozen=True)
class SyncShape(Shape):
    """A synchronization object; `threads` is how many threads the program has.

    Each object is a run of cells, and each operation on it one or two edges; nothing else in
    Mazurka knows what a lock is.  Operations work on any address, so objects can be in arrays and
    records and be reached through aliases.
    """

    threads: int

    def thread_counts(self) -> Iterator[int]:
        yield self.threads


@dataclass(frozen=True)
class Blueprint:
    """An object that has been made but has no place yet."""

    shape: Shape
    initials: tuple[Expr, ...] = field(compare=False)

    @staticmethod
    def default(shape: Shape) -> Blueprint:
        return Blueprint(shape, shape.zero())

    @property
    def is_static(self) -> bool:
        """Whether all first values are constants."""
        return all(isinstance(initial, Const) for initial in self.initials)


@dataclass(frozen=True, slots=True)
class Reference:
    """An object at an address; `shared` is False for objects of the acting thread alone."""

    shape: Shape
    address: Expr
    shared: bool = True
    title: str = field(default="", compare=False)
    """How the program spells it, for messages and traces."""

    def cell(self, offset: int) -> Expr:
        """The address of one of the object's cells."""
        return binary("add", self.address, Const(offset))


MOST_CELLS = 1_000_000


@dataclass(slots=True)
class CellDraft:
    """A cell that may still change until the program is complete."""

    name: str
    low: int = 0
    high: int = 0
    initial: int = 0
    owner: int | None = None
    role: Role = Role.INT
    inferred: bool = False
    span: Span | None = None
    unsigned: bool = False

    def finish(self) -> Cell:
        first = (self.name, self.low, self.high, self.initial, self.owner, self.role)
        return Cell(*first, span=self.span, inferred=self.inferred, unsigned=self.unsigned)


@dataclass(slots=True)
class Storage:
    cells: list[CellDraft] = field(default_factory=list)

    def add(self, cell: CellDraft) -> int:
        """Add a cell; returns its address."""
        if len(self.cells) >= MOST_CELLS:
            wrong = f"the model needs more than {MOST_CELLS:,} cells"
            raise MazurkaError.at(cell.span, f"{wrong}; use smaller arrays")
        self.cells.append(cell)
        return len(self.cells) - 1

    def place(self, name: str, blueprint: Blueprint, owner: int | None, span: Span | None) -> int:
        """Give an object its cells; returns the address of the first."""
        base = len(self.cells)
        for form, initial in zip(blueprint.shape.forms(), blueprint.initials, strict=True):
            first = initial.value if isinstance(initial, Const) else max(form.low, 0)
            title, low, high = name + form.suffix, form.low, form.high
            if not (form.inferred or low <= first <= high) or not (fits(low) and fits(high)):
                raise MazurkaError.at(span, _explain_range(title, low, high, first))
            place = form.span or span
            self.add(CellDraft(title, low, high, first, owner, form.role, form.inferred, place))
        return base


def _explain_range(title: str, low: int, high: int, first: int) -> str:
    """Tell what is wrong with the range of a cell."""
    ends = f"{low}..{high}"
    if low > high:
        return f"the range {ends} of `{title}` is empty: give the lower bound first"
    if not (fits(low) and fits(high)):
        return f"the range {ends} of `{title}` needs more than 64 bits: give a smaller one"
    wrong = f"`{title}` starts at {first}, outside its range {ends}"
    return f"{wrong}: give it a first value within the range"
