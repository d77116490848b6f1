"""The results of `mazurka bench cpc`, as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from mazurka.bench.cpc_subjects import Published
from mazurka.bench.printing import number_table, print_page
from mazurka.version import __version__

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


def print_results(results: Results, console: Console | None = None) -> None:
    table = number_table([FIRST_COLUMN], COLUMNS)
    for row in results.rows:
        table.add_row(row.title, *_ours(row))
        table.add_row("", *_theirs(row.published), style="dim")
    print_page(
        "Commit point completion: paper 000, Table 1",
        table,
        LEGEND,
        quick=results.quick,
        warnings=[
            f"{row.title}: cpc has more states than the full search."
            for row in results.rows
            if row.exceeds_full
        ],
        console=console,
    )


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
