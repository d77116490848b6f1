"""What queues and channels hold: a number, a tuple of numbers, or a record of numbers, by value."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.kit.shapes import INTEGER, CellForm, NumberShape, RecordShape
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Role


@dataclass(frozen=True)
class ItemForm:
    """The fields of an item, side by side in its slot."""

    fields: tuple[NumberShape, ...] = (INTEGER,)
    is_tuple: bool = False
    record: RecordShape | None = None
    """The class of the item, whose fields these are."""

    @property
    def title(self) -> str:
        if self.record is not None:
            return self.record.title
        fields = ", ".join(field.title for field in self.fields)
        return f"({fields})" if self.is_tuple else fields

    @property
    def is_plain(self) -> bool:
        """Whether an item is one number."""
        return not self.is_tuple and self.record is None

    @property
    def suffixes(self) -> list[str]:
        """How the cells of an item's fields are named, behind the name of its slot."""
        if self.record is not None:
            return [f".{name}" for name, _ in self.record.fields]
        return [f"[{n}]" if self.is_tuple else "" for n in range(len(self.fields))]

    def cells(self, slot: int) -> tuple[CellForm, ...]:
        """Return the cells of one slot."""
        named = zip(self.suffixes, self.fields, strict=True)
        return tuple(
            CellForm(
                f".item[{slot}]{suffix}", field.low, field.high, Role.SYNC, inferred=field.inferred
            )
            for suffix, field in named
        )

    def empty(self) -> tuple[Expr, ...]:
        """Return what the fields of an empty slot hold."""
        return tuple(
            ZERO if field.inferred else Const(min(max(0, field.low), field.high))
            for field in self.fields
        )
