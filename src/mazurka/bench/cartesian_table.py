"""What `mazurka bench cartesian` prints: one wide table, or two where there is no room for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table

from mazurka.bench.cartesian_results import Measured, Results, Search, saved
from mazurka.bench.printing import number_table, print_page
from mazurka.report.terminal import make_console

FIRST_COLUMN = 15
MUCH = 1000


@dataclass(frozen=True)
class Column:
    heading: str
    width: int
    ours: Callable[[Measured], str]
    theirs: Callable[[Measured], str]


def print_results(results: Results, console: Console | None = None) -> None:
    """Two lines for each row: what we count, and what the paper has."""
    console = console or make_console()
    counts, others = _counts(results), _others(results)
    page: RenderableType = _table(results, [*counts, *others])
    if Measurement.get(console, _unbounded(console), page).minimum > console.width:
        page = Group(_table(results, counts), "", _table(results, others))
    warnings = [*results.differing, *results.unknown]
    if results.interrupted:
        warnings.append("Interrupted: the rows that follow are missing.")
    print_page(
        "Cartesian reduction: paper 003, Table 1",
        page,
        _legend(results),
        quick=results.quick,
        warnings=warnings,
        console=console,
    )


def _unbounded(console: Console) -> ConsoleOptions:
    """For asking how wide something would like to be."""
    return console.options.update(max_width=MUCH)


def _table(results: Results, columns: Sequence[Column]) -> Table:
    table = number_table([FIRST_COLUMN], [(column.heading, column.width) for column in columns])
    before: str | None = None
    for measured in results.rows:
        if before not in (None, measured.row.family):
            table.add_row()
        before = measured.row.family
        title, style = ("  differs from", "red") if measured.differing else ("  paper", "dim")
        table.add_row(measured.row.name, *(column.ours(measured) for column in columns))
        table.add_row(title, *(column.theirs(measured) for column in columns), style=style)
    return table


def _counts(results: Results) -> list[Column]:
    seconds = results.limit_seconds
    return [
        _count("standard\nstates", 9, "standard", "states", seconds),
        _count("standard\ntrans.", 10, "standard", "transitions"),
        _count("table1\nstates", 6, "table1", "states", seconds),
        _count("table1\ntrans.", 9, "table1", "transitions"),
        _count("default\nstates", 7, "default", "states", seconds),
        _count("default\ntrans.", 9, "default", "transitions"),
    ]


def _others(results: Results) -> list[Column]:
    workers = "1 worker" if results.workers == 1 else f"{results.workers} workers"
    return [
        _saving("saved %\nstates", "states"),
        _saving("saved %\ntrans.", "transitions"),
        _time("standard\nms", 10, "standard"),
        _time("table1\nms", 7, "table1"),
        _time("default\nms", 7, "default"),
        _time(f"{workers}\nms", 9, "concurrent"),
        _count("dpor\ntrans.", 11, "dpor", "transitions", results.schedules_seconds),
    ]


def _count(
    heading: str, width: int, mode: str, what: str, limit_seconds: float | None = None
) -> Column:
    """Only the first column of a search says what its limit was."""

    def ours(measured: Measured) -> str:
        search = measured.search(mode)
        number = search.states if what == "states" else search.transitions
        if number is not None:
            return f"{number:,}"
        return "-" if limit_seconds is None else stopped(search, limit_seconds)

    def theirs(measured: Measured) -> str:
        published = measured.published(mode)
        if published is None:
            return ""
        if what == "transitions" and published.transitions_above is not None:
            return f">{published.transitions_above:,}"
        number = published.states if what == "states" else published.transitions
        return "" if number is None else f"{number:,}"

    return Column(heading, width, ours, theirs)


def stopped(search: Search, limit_seconds: float) -> str:
    """What to write where a search has no counts."""
    if search.at_least is not None:
        mantissa, exponent = f"{search.at_least:.1e}".split("e")
        return f">={mantissa}e{int(exponent)}"
    if "time" in search.limits:
        return f">{limit_seconds:g} s"
    if "memory" in search.limits:
        return "memory"
    return "-" if search.limits[0].startswith("not tried") else "too long"


def _time(heading: str, width: int, mode: str) -> Column:
    def ours(measured: Measured) -> str:
        search = measured.search(mode)
        return "-" if search.seconds is None or search.limits else milliseconds(search.seconds)

    def theirs(measured: Measured) -> str:
        published = measured.published(mode)
        if published is None or published.milliseconds is None:
            return ""
        return f"{published.milliseconds:,}"

    return Column(heading, width, ours, theirs)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.01 else f"{1000 * seconds:.1f}"


def _saving(heading: str, what: str) -> Column:
    def text(percent: dict[str, float] | None) -> str:
        return "" if percent is None else f"{percent[what]:g}"

    def ours(measured: Measured) -> str:
        return text(saved(measured.standard.counts, measured.table1.counts))

    def theirs(measured: Measured) -> str:
        standard, reduced = measured.published("standard"), measured.published("table1")
        if standard is None or reduced is None:
            return ""
        return text(saved(standard.counts, reduced.counts))

    return Column(heading, 7, ours, theirs)


def _legend(results: Results) -> list[str]:
    return [
        results.summary,
        "First lines are ours, second lines the paper's, whose times are of a machine of 2007 (four"
        " processors for its concurrent search).",
        "standard: no reduction; table1: vectors as the paper's table was made; workers: the same,"
        " several at a time.",
        "default: as check --strategy cartesian; loops of threads that do not move do not count.",
        "trans.: transitions. saved: by table1. dpor: where all executions end.",
        f"Limits: {results.limit_seconds:g} s, for dpor {results.schedules_seconds:g} s. >: more"
        " than that; >=: not tried, there are so many at least; -: not tried; too long: an"
        " execution has too many steps.",
    ]
