"""The results of `mazurka bench cpc`, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka import __version__
from mazurka.bench.cpc_subjects import Published
from mazurka.report.terminal import glyphs_for, make_console, safe

COLUMNS = (
    ("loc", 4),
    ("full", 7),
    ("unsound", 9),
    ("cpc", 9),
    ("cycles", 9),
    ("ratio", 5),
    ("rounds", 6),
    ("secs", 5),
)
FIRST_COLUMN = 18
LEGEND = (
    "Distinct program states, assertions only; the second line of each program is the paper's.",
    "unsound: transactions that never end by force. cycles: cycle detection. ratio: cycles / cpc.",
    "loc: lines of code. rounds: searches by cpc that took too much for protected and were begun"
    " again; they are not in its states, but in its secs.",
)


@dataclass(frozen=True)
class Search:
    """What one strategy came to; states and transitions are those of the last round."""

    states: int
    transitions: int
    seconds: float
    """All rounds together."""
    rounds: int
    """The rounds before the last one."""
    earlier_states: int
    """The states of those rounds, added up."""

    def to_json(self) -> dict[str, object]:
        return {
            "states": self.states,
            "transitions": self.transitions,
            "seconds": round(self.seconds, 6),
            "rounds": self.rounds,
            "earlier_states": self.earlier_states,
        }


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    constants: Mapping[str, int]
    lines: int
    searches: Mapping[str, Search]
    published: Published

    @property
    def ratio(self) -> float:
        """How many times the states of `cpc` cycle detection visits."""
        return self.searches["cycle-detection"].states / self.searches["cpc"].states

    @property
    def exceeds_full(self) -> bool:
        """Whether `cpc` visits states that the unreduced search does not have: that is a bug."""
        return self.searches["cpc"].states > self.searches["full"].states

    def to_json(self) -> dict[str, object]:
        return {
            "model": self.name,
            "title": self.title,
            "constants": dict(self.constants),
            "lines": self.lines,
            "strategies": {name: search.to_json() for name, search in self.searches.items()},
            "ratio": self.ratio,
            "paper": self.published.to_json(),
        }


@dataclass(frozen=True)
class Results:
    repeat: int
    quick: bool
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": "cpc",
            "repeat": self.repeat,
            "quick": self.quick,
            "rows": [row.to_json() for row in self.rows],
        }


def print_json(results: Results) -> None:
    sys.stdout.write(json.dumps(results.to_json(), indent=2) + "\n")


def print_results(results: Results, console: Console | None = None) -> None:
    console = console or make_console()
    console.print(Text("Commit point completion: paper 000, Table 1", "bold"))
    if results.quick:
        console.print(Text("Small instances: a look, not a measurement.", "yellow"))
    console.print()
    console.print(_table(results))
    console.print()
    for text in LEGEND:
        console.print(Text(safe(text, glyphs_for(console)), "dim"))
    for row in results.rows:
        if row.exceeds_full:
            console.print(Text(f"{row.title}: cpc has more states than the full search.", "red"))


def _table(results: Results) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", min_width=FIRST_COLUMN, no_wrap=True)
    for heading, width in COLUMNS:
        table.add_column(heading, justify="right", min_width=width, no_wrap=True)
    for row in results.rows:
        table.add_row(row.title, *_ours(row))
        table.add_row("", *_theirs(row.published), style="dim")
    return table


def _ours(row: Row) -> tuple[str, ...]:
    search = row.searches["cpc"]
    return (
        f"{row.lines}",
        *(f"{row.searches[name].states:,}" for name in row.searches),
        f"{row.ratio:.2f}",
        f"{search.rounds}",
        f"{search.seconds:.3f}",
    )


def _theirs(row: Published) -> tuple[str, ...]:
    states = (row.unsound, row.cpc, row.cycle_detection)
    return (f"{row.lines}", "", *(f"{number:,}" for number in states), f"{row.ratio:.2f}", "", "")
