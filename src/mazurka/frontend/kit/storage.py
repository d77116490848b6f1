"""The cells of a program while it is elaborated; an address is a position in the list."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.errors import MazurkaError
from mazurka.frontend.kit.shapes import Blueprint
from mazurka.ir.expressions import Const
from mazurka.ir.program import Cell, Role, Span

MOST_CELLS = 1_000_000


@dataclass(slots=True)
class CellDraft:
    """A cell that may still change until the program is complete."""

    name: str
    low: int
    high: int
    initial: int
    owner: int | None
    role: Role
    inferred: bool
    span: Span | None

    def finish(self) -> Cell:
        return Cell(
            self.name,
            self.low,
            self.high,
            self.initial,
            owner=self.owner,
            role=self.role,
            span=self.span,
            inferred=self.inferred,
        )


@dataclass(slots=True)
class Storage:
    cells: list[CellDraft] = field(default_factory=list)

    def add(
        self,
        name: str,
        *,
        low: int = 0,
        high: int = 0,
        initial: int = 0,
        owner: int | None = None,
        role: Role = Role.INT,
        inferred: bool = False,
        span: Span | None = None,
    ) -> int:
        """Add a cell; returns its address."""
        if len(self.cells) >= MOST_CELLS:
            raise MazurkaError.at(
                span, f"the model needs more than {MOST_CELLS:,} cells; use smaller arrays"
            )
        self.cells.append(CellDraft(name, low, high, initial, owner, role, inferred, span))
        return len(self.cells) - 1

    def place(self, name: str, blueprint: Blueprint, owner: int | None, span: Span | None) -> int:
        """Give an object its cells; returns the address of the first."""
        base = len(self.cells)
        for form, initial in zip(blueprint.shape.forms(), blueprint.initials, strict=True):
            first = initial.value if isinstance(initial, Const) else max(form.low, 0)
            if not form.inferred and not form.low <= first <= form.high:
                raise MazurkaError.at(
                    span,
                    f"`{name}{form.suffix}` starts at {first}, outside its range"
                    f" {form.low}..{form.high}: give it a first value within the range",
                )
            self.add(
                name + form.suffix,
                low=form.low,
                high=form.high,
                initial=first,
                owner=owner,
                role=form.role,
                inferred=form.inferred,
                span=span,
            )
        return base
