"""Names of many cells in one line: elements of an array are named together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mazurka.ir.program import Program

INDEX = re.compile(r"\[\d+\]")
MOST_NAMES = 8


def name_cells(program: Program, addresses: Iterable[int]) -> str:
    """`left, right, flags[...] (3)`: the number is how many cells a name stands for."""
    shapes: dict[str, list[str]] = {}
    for address in addresses:
        name = program.cells[address].name
        shapes.setdefault(INDEX.sub("[...]", name), []).append(name)
    texts = [
        names[0] if len(names) == 1 else f"{shape} ({len(names):,})"
        for shape, names in shapes.items()
    ]
    if len(texts) <= MOST_NAMES:
        return ", ".join(texts)
    rest = len(texts) - MOST_NAMES + 1
    return f"{', '.join(texts[: MOST_NAMES - 1])}, and {rest:,} more"
