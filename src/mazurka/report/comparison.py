"""The table that `mazurka compare` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka.report.observer import bytes_text
from mazurka.report.summary import STYLES
from mazurka.report.terminal import glyphs_for, safe
from mazurka.report.verdict import Verdict, limit_name, property_list
from mazurka.stateful.strategy import Statistics

HEADINGS = ("states", "transitions", "seconds", "states/s", "memory", "bytes/state")
DISPENSABLE = ("states/s", "bytes/state")
WIDE = 100
"""Narrower terminals get fewer columns: what is left out follows from the others."""


def print_comparison(
    console: Console,
    path: str,
    properties: tuple[str, ...],
    verdicts: Sequence[Verdict],
    left_out: Sequence[tuple[str, str]],
) -> None:
    """One row a strategy; the reader compares, we only measure."""
    glyphs = glyphs_for(console)
    scope = f"{property_list(properties)}, and range, index and lock errors"
    console.print(Text(safe(f"{path}: {scope}", glyphs), "bold"), soft_wrap=True)
    if "deadlock" not in properties:
        console.print(Text("deadlocks are not looked for; --property assert,deadlock does", "dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("strategy", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    shown_columns = [
        position
        for position, heading in enumerate(HEADINGS)
        if console.width >= WIDE or heading not in DISPENSABLE
    ]
    for heading in (HEADINGS[position] for position in shown_columns):
        table.add_column(heading, justify="right", no_wrap=True)
    for verdict in verdicts:
        statistics = verdict.statistics or Statistics()
        style = STYLES.get(verdict.verdict, "")
        shown = Text(safe(verdict_text(verdict), glyphs), style)
        figures = numbers(statistics)
        kept = [figures[position] for position in shown_columns]
        table.add_row(Text(safe(verdict.strategy or "", glyphs)), shown, *kept)
    console.print(table)
    for name, why in left_out:
        console.print(Text(safe(f"{name} is left out: {why}", glyphs), "dim"))


def verdict_text(verdict: Verdict) -> str:
    if verdict.violation is not None:
        return f"{verdict.verdict}: {verdict.violation.kind}"
    if verdict.limits:
        return f"{verdict.verdict}: {'; '.join(limit_name(limit) for limit in verdict.limits)}"
    return verdict.verdict


def numbers(statistics: Statistics) -> tuple[Text, ...]:
    texts = (
        f"{statistics.states:,}",
        f"{statistics.transitions:,}",
        f"{statistics.seconds:.3f}",
        f"{statistics.states_per_second:,.0f}",
        bytes_text(statistics.peak_bytes),
        f"{statistics.bytes_per_state:.1f}",
    )
    return tuple(Text(text) for text in texts)
