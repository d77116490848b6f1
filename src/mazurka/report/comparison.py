"""The table that `mazurka compare` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNSOUND
from mazurka.report.observer import bytes_text
from mazurka.report.prose import Prose
from mazurka.report.summary import STYLES
from mazurka.report.terminal import Glyphs, glyphs_for, safe
from mazurka.report.verdict import (
    UNREDUCED,
    Verdict,
    always_checked,
    limit_name,
    property_list,
)
from mazurka.search import CUT_SHORT, PROPERTIES, Statistics
from mazurka.search.reading import Reading

GAP = 2
NOT_APPLICABLE = "-"


@dataclass(frozen=True)
class FigureColumn:
    """A column of figures.

    Where the terminal is too narrow, columns go in the order of `dispensable`: what they say
    follows from the others, or matters less.  `usual` is the room that a measured figure takes:
    what is shown must not depend on how fast a machine was in one run.
    """

    heading: str
    figure: Callable[[Verdict], str]
    dispensable: int = 0
    usual: int | None = None

    def width(self, verdicts: Iterable[Verdict]) -> int:
        widest = self.usual or max((len(self.figure(verdict)) for verdict in verdicts), default=0)
        return max(len(self.heading), widest)


def print_comparison(
    console: Console,
    path: str,
    properties: tuple[str, ...],
    verdicts: Sequence[Verdict],
    left_out: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
) -> None:
    """One row a strategy; the reader compares, we only measure.

    The notes are about the program, whoever searches it."""
    glyphs = glyphs_for(console)
    scope = f"{property_list(properties)}, and {always_checked(Reading(), [path])}"
    console.print(Text(safe(f"{path}: {scope}", glyphs), "bold"), soft_wrap=True)
    prose = Prose(console)
    if properties == ("assert",):  # a table full of `holds` would mislead
        prose.print_line("deadlocks are not looked for; --property assert,deadlock does", "dim")
    console.print(comparison_table(verdicts, console.width, glyphs))
    for line in list_remarks(verdicts, left_out):
        prose.print_line(line, "dim")
    for note in notes:
        prose.print_note(note)


def comparison_table(verdicts: Sequence[Verdict], width: int, glyphs: Glyphs) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
    table.add_column("strategy", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    named = sum(
        GAP + max(map(cell_len, (heading, *texts)))
        for heading, texts in (
            ("strategy", [verdict.strategy or "" for verdict in verdicts]),
            ("verdict", [verdict_text(verdict) for verdict in verdicts]),
        )
    )
    shown = choose_fitting(choose_columns(verdicts), verdicts, width - named)
    for column in shown:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for verdict in verdicts:
        name = Text(safe(verdict.strategy or "", glyphs))
        judged = Text(safe(verdict_text(verdict), glyphs), STYLES.get(verdict.verdict, ""))
        table.add_row(name, judged, *(Text(column.figure(verdict)) for column in shown))
    return table


def choose_columns(verdicts: Sequence[Verdict]) -> list[FigureColumn]:
    """Counts are those of the last round, time and memory those of all rounds together."""
    stored = any(stores_states(verdict) for verdict in verdicts)
    columns = state_counts(verdicts) if stored else []
    if any(counts(verdict).executions is not None for verdict in verdicts):
        columns.append(FigureColumn("executions", executions))
    columns += [
        FigureColumn("transitions", transitions, 7),
        FigureColumn("seconds", lambda v: f"{v.total_seconds:.3f}", usual=7),
    ]
    if stored:
        columns += storage_columns()
    if any(verdict.rounds for verdict in verdicts):
        columns.append(FigureColumn("rounds", lambda v: f"{len(v.searches)}", 3))
    return columns


def state_counts(verdicts: Sequence[Verdict]) -> list[FigureColumn]:
    yardstick = next((v for v in verdicts if v.strategy == UNREDUCED and complete(v)), None)
    columns = [FigureColumn("states", states)]
    if yardstick is not None and len(verdicts) > 1:
        columns.append(
            FigureColumn(f"of {UNREDUCED}", only_for_states(lambda v: share(v, yardstick)), 6)
        )
    return columns


def storage_columns() -> list[FigureColumn]:
    """What storing states costs."""
    speed = only_for_states(lambda v: f"{counts(v).states_per_second:,.0f}")
    each = only_for_states(lambda v: f"{counts(v).bytes_per_state:.1f}")
    return [
        FigureColumn("states/s", speed, 1, usual=10),
        FigureColumn("memory", only_for_states(lambda v: bytes_text(v.peak_bytes)), 5, usual=6),
        FigureColumn("bytes/state", each, 2, usual=5),
    ]


def states(verdict: Verdict) -> str:
    """The states that were stored, or that a search without storing them has counted."""
    known = stores_states(verdict) or counts(verdict).states
    return f"{counts(verdict).states:,}" if known else NOT_APPLICABLE


def only_for_states(figure: Callable[[Verdict], str]) -> Callable[[Verdict], str]:
    """A figure that means nothing where no states are stored."""
    return lambda verdict: figure(verdict) if stores_states(verdict) else NOT_APPLICABLE


def stores_states(verdict: Verdict) -> bool:
    figures = counts(verdict)
    return figures.executions is None and figures.unrolled is None


def executions(verdict: Verdict) -> str:
    number = counts(verdict).executions
    return NOT_APPLICABLE if number is None else f"{number:,}"


def transitions(verdict: Verdict) -> str:
    figures = counts(verdict)
    return NOT_APPLICABLE if figures.unrolled is not None else f"{figures.transitions:,}"


def choose_fitting(
    columns: list[FigureColumn], verdicts: Sequence[Verdict], room: int
) -> list[FigureColumn]:
    """The columns that fit, the most dispensable ones left out first."""
    shown = list(columns)
    for column in sorted((c for c in columns if c.dispensable), key=lambda c: c.dispensable):
        if sum(GAP + each.width(verdicts) for each in shown) - GAP <= room:
            break
        shown.remove(column)
    return shown


def counts(verdict: Verdict) -> Statistics:
    return verdict.statistics or Statistics()


def complete(verdict: Verdict) -> bool:
    return not CUT_SHORT & set(verdict.limits)


def share(verdict: Verdict, whole: Verdict) -> str:
    """How many states of the unreduced search are left, in per cent."""
    if not complete(verdict) or not counts(whole).states:
        return ""
    percent = 100 * counts(verdict).states / counts(whole).states
    return f"{percent:.1f}%" if percent < 99.95 else f"{percent:.0f}%"


def verdict_text(verdict: Verdict) -> str:
    """Short, for a table; the limits stand below it."""
    if verdict.violation is not None:
        return f"{verdict.verdict}: {verdict.violation.kind}"
    return verdict.verdict


def list_remarks(verdicts: Sequence[Verdict], left_out: Iterable[tuple[str, str]]) -> list[str]:
    """What the figures do not say."""
    lines = [describe_agreement(verdicts)] if len(verdicts) > 1 else []
    if any(verdict.rounds for verdict in verdicts):
        lines.append("states and transitions: the last round; seconds: all rounds together")
    unsound = [verdict.strategy or "" for verdict in verdicts if UNSOUND in verdict.limits]
    if unsound:
        are, they = ("are", "they do") if len(unsound) > 1 else ("is", "it does")
        lines.append(
            f"{', '.join(unsound)} {are} unsound by design: what {they} not find may still be there"
        )
    lines += [f"{', '.join(names)}: {said}" for said, names in collect_remarks(verdicts).items()]
    return lines + left_out_lines(left_out)


def describe_agreement(verdicts: Sequence[Verdict]) -> str:
    """Whether all that have decided say the same, and who has not decided."""
    clash = find_disagreement(verdicts)
    if clash is not None:
        one, other = clash
        return (
            f"DISAGREEMENT: {one.strategy} says {verdict_text(one)}, {other.strategy} says"
            f" {verdict_text(other)}; one of them is wrong: please report it"
        )
    open_ones = [verdict.strategy or "" for verdict in verdicts if verdict.verdict == INCONCLUSIVE]
    decided = len(verdicts) - len(open_ones)
    if not open_ones:
        return f"all {decided} agree"
    undecided = f"no answer: {', '.join(open_ones)}"
    return f"all {decided} that have an answer agree; {undecided}" if decided > 1 else undecided


def find_disagreement(verdicts: Sequence[Verdict]) -> tuple[Verdict, Verdict] | None:
    """A violation that another one excludes; one that was not looked for is not excluded."""
    for one, other in product(verdicts, verdicts):
        if one.violation is None or other.verdict != HOLDS:
            continue
        kind = one.violation.kind
        if kind not in PROPERTIES or kind in other.properties:
            return one, other
    return None


def left_out_lines(left_out: Iterable[tuple[str, str]]) -> list[str]:
    """Strategies that are left out for the same reason share a line."""
    together: dict[str, list[str]] = {}
    for name, why in left_out:
        together.setdefault(why.replace(f"strategy {name!r} ", "", 1), []).append(name)
    return [f"left out: {', '.join(names)}: {why}" for why, names in together.items()]


def collect_remarks(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """What is to be said about limits, and what strategies remark themselves; of which of them."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        name = verdict.strategy or ""
        for remark in (*describe_limits(verdict), *verdict.notes):
            found.setdefault(remark.replace(f"strategy {name} ", "the strategy "), []).append(name)
    return found


def describe_limits(verdict: Verdict) -> Iterator[str]:
    for limit in verdict.limits:
        if limit == "time" and verdict.asked and (seconds := verdict.asked.limit_seconds):
            yield f"time limit of {seconds:g} s (--limit-time sets another)"
        elif limit != UNSOUND and (limit in CUT_SHORT or verdict.violation is None):
            yield limit_name(limit)
