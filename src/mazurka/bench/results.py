"""The speed benchmark's results, as tables for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka.bench.measurement import Measurement, Row
from mazurka.bench.printing import number_table
from mazurka.report.observer import bytes_text
from mazurka.report.terminal import glyphs_for, make_console, safe
from mazurka.version import __version__

COLUMNS = (
    ("states", 10),
    ("transitions", 11),
    ("seconds", 8),
    ("states/s", 10),
    ("bytes/state", 11),
    ("peak", 7),
    ("ratio", 6),
)
FIRST_COLUMN = 7


@dataclass(frozen=True)
class Results:
    order: str
    repeat: int
    quick: bool
    spin_version: str | None
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": "speed",
            "order": self.order,
            "repeat": self.repeat,
            "quick": self.quick,
            "spin_version": self.spin_version,
            "rows": [row.to_json() for row in self.rows],
        }


def print_results(results: Results, console: Console | None = None) -> None:
    """A small table for each model, all with the same columns."""
    console = console or make_console()
    heading = f"Full search, {'depth' if results.order == 'dfs' else 'breadth'}-first, one core"
    if results.repeat > 1:
        heading += f"; the median of {results.repeat} runs each"
    console.print(Text(heading, "bold"))
    for row in results.rows:
        _print_row(row, console)
    if any(row.spin is not None for row in results.rows):
        _print_legend(results, console)


def _print_row(row: Row, console: Console) -> None:
    console.print()
    console.print(Text(title(row), "bold"))
    console.print(_table(row))
    for note in notes(row):
        console.print(Text(safe(note, glyphs_for(console)), "yellow"))
    if row.spin_command is not None:
        console.print(Text(safe(row.spin_command, glyphs_for(console)), "dim"))


def title(row: Row) -> str:
    """`philosophers (N=14), 1 word a state`."""
    constants = ", ".join(f"{name}={value}" for name, value in row.constants.items())
    words = "1 word" if row.words == 1 else f"{row.words} words"
    return f"{row.model} ({constants}), {words} a state"


def notes(row: Row) -> list[str]:
    """What a reader must know before trusting the numbers of a row."""
    if row.message is not None:
        return [f"SPIN is left out: {row.message}"]
    if row.agrees is False:
        return ["The tools count differently, so the models differ and there is no ratio."]
    if row.ratio is None:
        return ["SPIN's clock, which counts hundredths of a second, shows nothing: no ratio."]
    return []


def _table(row: Row) -> Table:
    table = number_table([FIRST_COLUMN], COLUMNS)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
    table.add_row("Mazurka", *_cells(row.mazurka), ratio)
    if row.spin is not None:
        style = "red" if row.agrees is False else ""
        table.add_row("SPIN", *_cells(row.spin), "differs" if style else "", style=style)
    return table


def _cells(measurement: Measurement) -> tuple[str, ...]:
    rate = measurement.states_per_second
    return (
        f"{measurement.states:,}",
        f"{measurement.transitions:,}",
        f"{measurement.seconds:.3f}",
        f"{rate:,.0f}" if rate else "-",
        f"{measurement.bytes_per_state:.1f}",
        bytes_text(measurement.peak_bytes),
    )


def _print_legend(results: Results, console: Console) -> None:
    meanings = (
        "ratio: Mazurka's states/s divided by SPIN's. bytes/state: the visited states with their"
        " hash table. peak: these and the stack. seconds: the search without any compilation."
    )
    console.print()
    for text in (meanings, results.spin_version or ""):
        console.print(Text(safe(text, glyphs_for(console)), "dim"))
