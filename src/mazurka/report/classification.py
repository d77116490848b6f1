"""How the threads share data, for people: a table of cells, and what each round taught.

A search by transactions classifies cells one by one.  Elements of an array that came out alike
are one row here: `buffer[0..7]`, and `accounts[i].balance` under `accounts[i].lock` where each
record has a lock of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka.report.terminal import glyphs_for, safe
from mazurka.report.words import counted, listed
from mazurka.search import CellClass, Statistics

MOST_ROWS = 40
MOST_COUNTS = 8
LETTERS = "ijklmn"
INDEX = re.compile(r"\[(\d+)\]")
KINDS = {
    "protected": "protected by a lock",
    "unshared": "unshared",
    "read-only": "read-only",
    "handed over": "handed over",
    "unprotected": "unprotected",
}
"""What a summary calls the classes, in the order in which it counts them."""
STYLES = {"unprotected": "yellow"}

Position: TypeAlias = tuple[int, ...]
"""The indexes in a cell's name, from left to right."""
Box: TypeAlias = tuple[tuple[int, ...], ...]
"""For each index the values that it takes, every one with every other."""


@dataclass(frozen=True)
class ClassRow:
    """One line of the table: cells of one shape that share a class."""

    cells: str
    kind: str
    lock: str
    round: int


def make_class_rows(cells: Iterable[CellClass]) -> list[ClassRow]:
    """The table, in the order in which the cells come."""
    groups = group_cells(cells, lambda cell: (shape(cell.cell), cell.kind, cell.lock, cell.round))
    single = [group[0] for group in groups if len(group) == 1]
    families = {
        cell: family
        for family in group_cells(
            single, lambda c: (shape(c.cell), c.kind, generalize_lock(c), c.round)
        )
        if len(family) > 1
        for cell in family
    }
    rows: list[ClassRow] = []
    for group in groups:
        family = families.get(group[0])
        if family is None:
            rows += make_rows(group)
        elif family[0] is group[0]:
            rows += make_family_rows(family)
    return rows


def make_rows(group: Sequence[CellClass]) -> Iterator[ClassRow]:
    """Cells with the same lock, or without one."""
    first = group[0]
    for box in find_boxes({position(cell.cell) for cell in group}):
        yield ClassRow(fill_indexes(first.cell, box), first.kind, first.lock or "", first.round)


def make_family_rows(family: Sequence[CellClass]) -> Iterator[ClassRow]:
    """Cells whose locks differ, but by the cells' own indexes only."""
    first = family[0]
    letters = iter(LETTERS)
    name = INDEX.sub(lambda _: f"[{next(letters)}]", first.cell)
    for box in find_boxes({position(cell.cell) for cell in family}):
        where = ", ".join(
            f"{letter} = {span(values)}" for letter, values in zip(LETTERS, box, strict=False)
        )
        yield ClassRow(f"{name}, {where}", first.kind, generalize_lock(first), first.round)


def generalize_lock(cell: CellClass) -> str:
    """The lock with a letter for each index that is one of the cell's: `accounts[i].lock`."""
    letters: dict[str, str] = {}
    for letter, index in zip(LETTERS, INDEX.findall(cell.cell), strict=False):
        letters.setdefault(index, letter)
    return INDEX.sub(lambda found: f"[{letters.get(found[1], found[1])}]", cell.lock or "")


def group_cells(
    cells: Iterable[CellClass], key: Callable[[CellClass], Hashable]
) -> list[list[CellClass]]:
    groups: dict[Hashable, list[CellClass]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return list(groups.values())


def shape(name: str) -> str:
    return INDEX.sub("[]", name)


def position(name: str) -> Position:
    return tuple(map(int, INDEX.findall(name)))


def find_boxes(positions: Iterable[Position]) -> list[Box]:
    """The positions as products of ranges: those with the same remainders go together."""
    behind: dict[int, list[Position]] = {}
    for place in sorted(positions):
        if not place:
            return [()]
        behind.setdefault(place[0], []).append(place[1:])
    alike: dict[tuple[Position, ...], list[int]] = {}
    for index, rests in behind.items():
        alike.setdefault(tuple(rests), []).append(index)
    return [(tuple(indexes), *box) for rests, indexes in alike.items() for box in find_boxes(rests)]


def fill_indexes(name: str, box: Box) -> str:
    """`buffer[3]` with all its indexes: `buffer[0..7]`."""
    values = iter(box)
    return INDEX.sub(lambda _: f"[{span(next(values))}]", name)


def span(values: Sequence[int]) -> str:
    """`0..3, 5`; the values are in order."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def draw_classes(console: Console, cells: Iterable[CellClass], *, every: bool) -> None:
    """The table; a very long one is cut unless every row is asked for."""
    glyphs = glyphs_for(console)
    rows = make_class_rows(cells)
    shown = rows if every or len(rows) <= MOST_ROWS else rows[:MOST_ROWS]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("cell", overflow="fold")
    table.add_column("class", no_wrap=True)
    table.add_column("lock", overflow="fold")
    table.add_column("round", justify="right", no_wrap=True)
    for row in shown:
        table.add_row(
            Text(safe(row.cells, glyphs)),
            Text(row.kind, STYLES.get(row.kind, "")),
            Text(safe(row.lock, glyphs)),
            str(row.round),
        )
    console.print(table)
    if len(shown) < len(rows):
        more = f"{glyphs.ellipsis} {len(rows) - len(shown):,} more; --classification shows them"
        console.print(Text(more, "dim"))


def describe_sharing(cells: Sequence[CellClass], rounds: int) -> str:
    """`7 cells of shared data: 4 protected by a lock, 3 unshared; 2 rounds`."""
    count = Counter(cell.kind for cell in cells)
    known = [kind for kind in KINDS if kind in count]
    others = sorted(kind for kind in count if kind not in KINDS)
    kinds = ", ".join(f"{count[kind]:,} {KINDS.get(kind, kind)}" for kind in [*known, *others])
    return f"{counted(len(cells), 'cell')} of shared data: {kinds}; {counted(rounds, 'round')}"


def describe_rounds(searches: Sequence[Statistics]) -> str:
    """`3 rounds: 12, 40 and 1,204 states`."""
    counts = [f"{search.states:,}" for search in searches]
    if len(counts) > MOST_COUNTS:
        counts = [*counts[: MOST_COUNTS - 2], "...", *counts[-2:]]
    noun = "state" if counts == ["1"] else "states"
    return f"{counted(len(searches), 'round')}: {listed(counts)} {noun}"
