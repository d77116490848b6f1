"""Sets of cells as integers: bit n stands for address n."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CellSets:
    """Cells that may be read and cells that may be written: bit n stands for address n."""

    reads: int = 0
    writes: int = 0

    def __or__(self, other: CellSets) -> CellSets:
        return CellSets(self.reads | other.reads, self.writes | other.writes)

    def without(self, cells: int) -> CellSets:
        return CellSets(self.reads & ~cells, self.writes & ~cells)

    def interferes(self, other: CellSets) -> bool:
        """Whether one of the two writes a cell that the other one reads or writes."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


NOTHING = CellSets()


def bits(cells: Iterable[int]) -> int:
    found = 0
    for cell in cells:
        found |= 1 << cell
    return found
