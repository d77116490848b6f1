"""The results of `mazurka bench optimistic`, as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from mazurka.bench.optimistic_subjects import Published
from mazurka.bench.printing import number_table, print_page
from mazurka.report.observer import bytes_text
from mazurka.version import __version__

COLUMNS = (
    ("instruction", 12),
    ("line", 10),
    ("reduced", 10),
    ("instr/red", 9),
    ("line/red", 9),
)
LEGEND = (
    "instruction, line: full searches with an instruction or a source line a step; by lines,"
    " violations can be missed. reduced: optimistic coarsening.",
    "memory: the visited states with their hash table, which is never smaller than some kilobytes."
    " paper: memory of Java PathFinder.",
    ">: the search was stopped by its limit.",
)


@dataclass(frozen=True)
class Search:
    """What one search came to; states, transitions and bytes are those of the last round."""

    states: int
    transitions: int
    table_bytes: int
    seconds: float
    """All rounds together."""
    complete: bool
    """False where a limit stopped it: there are more states than these."""
    rounds: int = 0
    """The rounds before the last one."""
    earlier_states: int = 0
    """The states of those rounds, added up."""

    def to_json(self) -> dict[str, object]:
        return {
            "states": self.states,
            "transitions": self.transitions,
            "table_bytes": self.table_bytes,
            "seconds": round(self.seconds, 6),
            "complete": self.complete,
            "rounds": self.rounds,
            "earlier_states": self.earlier_states,
        }


@dataclass(frozen=True)
class Ratio:
    """How many times the reduced search's states and bytes another search has."""

    states: float
    table_bytes: float
    complete: bool
    """False where the other search was stopped: the ratios are at least these."""

    def to_json(self) -> dict[str, object]:
        return {
            "states": self.states,
            "table_bytes": self.table_bytes,
            "complete": self.complete,
        }


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    constants: Mapping[str, int]
    instruction: Search
    line: Search
    reduced: Search
    published: Published

    def ratio(self, search: Search) -> Ratio | None:
        """None where the reduced search was stopped: then nothing is known."""
        if not self.reduced.complete:
            return None
        return Ratio(
            states=search.states / max(self.reduced.states, 1),
            table_bytes=search.table_bytes / max(self.reduced.table_bytes, 1),
            complete=search.complete,
        )

    @property
    def not_reduced(self) -> bool:
        """Whether the reduction visits more states than there are: that is a bug."""
        return self.instruction.complete and self.reduced.states > self.instruction.states

    def to_json(self) -> dict[str, object]:
        ratios = {"instruction": self.ratio(self.instruction), "line": self.ratio(self.line)}
        return {
            "model": self.name,
            "title": self.title,
            "constants": dict(self.constants),
            "instruction": self.instruction.to_json(),
            "line": self.line.to_json(),
            "reduced": self.reduced.to_json(),
            "ratios": {
                name: None if ratio is None else ratio.to_json() for name, ratio in ratios.items()
            },
            "paper": self.published.to_json(),
        }


@dataclass(frozen=True)
class Results:
    quick: bool
    limit_seconds: float
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": "optimistic",
            "quick": self.quick,
            "limit_seconds": self.limit_seconds,
            "rows": [row.to_json() for row in self.rows],
        }


def print_results(results: Results, console: Console | None = None) -> None:
    """Three lines for each program: its states, its memory, and the paper's memory."""
    table = number_table([13, 6], COLUMNS)
    for row in results.rows:
        table.add_row(row.title, "states", *_states(row))
        table.add_row("", "memory", *_memory(row))
        table.add_row("", "paper", *_theirs(row.published), style="dim")
    print_page(
        "Optimistic coarsening: paper 002, assertions and deadlocks",
        table,
        LEGEND,
        quick=results.quick,
        warnings=[
            f"{row.title}: the reduced search has the most states."
            for row in results.rows
            if row.not_reduced
        ],
        console=console,
    )


def _states(row: Row) -> list[str]:
    searches = (row.instruction, row.line, row.reduced)
    counts = [marked(f"{search.states:,}", search.complete) for search in searches]
    ratios = (row.ratio(row.instruction), row.ratio(row.line))
    return counts + [
        "-" if ratio is None else marked(times(ratio.states), ratio.complete) for ratio in ratios
    ]


def _memory(row: Row) -> list[str]:
    searches = (row.instruction, row.line, row.reduced)
    sizes = [marked(bytes_text(search.table_bytes), search.complete) for search in searches]
    ratios = (row.ratio(row.instruction), row.ratio(row.line))
    return sizes + [
        "-" if ratio is None else marked(times(ratio.table_bytes), ratio.complete)
        for ratio in ratios
    ]


def _theirs(row: Published) -> list[str]:
    finished = not row.out_of_memory
    return [
        marked(f"{row.instruction:g} MB", finished),
        f"{row.line:g} MB",
        f"{row.reduced:g} MB",
        marked(times(row.instruction_ratio), finished),
        times(row.line_ratio),
    ]


def marked(text: str, complete: bool) -> str:
    """`>` says that it would be more if it had come to an end."""
    return text if complete else f">{text}"


def times(ratio: float) -> str:
    """As the paper prints them: two digits, all of them from ten on."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
