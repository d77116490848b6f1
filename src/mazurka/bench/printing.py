"""What benchmarks have in common: the options they take and the pages that they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Protocol, TypedDict, TypeVar

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mazurka.report.terminal import glyphs_for, make_console, safe

QUICK = "Small instances: a look, not a measurement."
NOT_AS_IT_SHOULD_BE = 1
"""The exit status of a benchmark that has measured what cannot be right."""


class Options(TypedDict, total=False):
    """What every benchmark can be asked for."""

    quick: bool
    only: str | None
    repeat: int
    order: str


class LimitedOptions(Options, total=False):
    """For those that know what to say of a search that was stopped by a time limit."""

    limit_seconds: float | None


class Printable(Protocol):
    """The results of a benchmark."""

    def to_json(self) -> dict[str, object]: ...


Measured = TypeVar("Measured", bound=Printable)


def publish(
    results: Measured, print_results: Callable[[Measured], None], *, as_json: bool, wrong: bool
) -> int:
    """Print results; returns the exit status."""
    if as_json:
        sys.stdout.write(json.dumps(results.to_json(), indent=2) + "\n")
    else:
        print_results(results)
    return NOT_AS_IT_SHOULD_BE if wrong else 0


def announce(text: str) -> None:
    """Tell somebody who watches what takes so long."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


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
    table: RenderableType,
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
