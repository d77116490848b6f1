"""What the pages that benchmarks print have in common."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka.report.terminal import glyphs_for, make_console, safe

QUICK = "Small instances: a look, not a measurement."


class Printable(Protocol):
    """The results of a benchmark."""

    def to_json(self) -> dict[str, object]: ...


def print_json(results: Printable) -> None:
    sys.stdout.write(json.dumps(results.to_json(), indent=2) + "\n")


def number_table(titles: Iterable[int], columns: Iterable[tuple[str, int]]) -> Table:
    """A table of numbers: title columns by their widths, then headings with theirs."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for width in titles:
        table.add_column("", min_width=width, no_wrap=True)
    for heading, width in columns:
        table.add_column(heading, justify="right", min_width=width, no_wrap=True)
    return table


def print_page(
    heading: str,
    table: Table,
    legend: Iterable[str],
    *,
    quick: bool,
    warnings: Iterable[str] = (),
    console: Console | None = None,
) -> None:
    """A heading, a table, what the columns mean, and what must not be overlooked."""
    console = console or make_console()
    console.print(Text(heading, "bold"))
    if quick:
        console.print(Text(QUICK, "yellow"))
    console.print()
    console.print(table)
    console.print()
    for text in legend:
        console.print(Text(safe(text, glyphs_for(console)), "dim"))
    for text in warnings:
        console.print(Text(safe(text, glyphs_for(console)), "red"))
