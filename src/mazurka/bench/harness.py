"""What all benchmarks are made of: cases in rows, searches in columns, papers beside, claims, JSON.

A benchmark is one module with a subclass of `Benchmark`, called `TABLE`.  It lists its cases with
the figures that a paper has for them, says how one case is measured, how a row is printed and
written as JSON, and which results cannot be right.  Everything else is here: options, the choice of
cases, repetitions, interruptions, the page, the JSON object and the exit status.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from mazurka.bench import plot
from mazurka.bench.figures import Figures, repeat
from mazurka.deadline import refuse_long
from mazurka.errors import OptionError
from mazurka.frontend.python import load_model
from mazurka.ir.passes.merge import Granularity
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.report.outputs import require_writable, write
from mazurka.report.terminal import glyphs_for, make_console, safe
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.search.resources import refuse_many
from mazurka.version import __version__

MODELS = Path(__file__).parent / "models"
QUICK = "Small instances: a look, not a measurement."
DIFFERS, INTERRUPTED = 1, 3
"""The exit status where something cannot be right, and after Ctrl-C as of other commands."""
WIDEST = 1000
"""For asking how wide a table would like to be."""

Announce = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A row of a table: a model with its constants, and what a paper says about it."""

    name: str
    title: str
    """The name in the paper's table."""
    model: str
    """The file under `models`, with its folder and without its suffix."""
    constants: Mapping[str, int] = field(default_factory=dict)
    quick: Mapping[str, int] = field(default_factory=dict)
    """Constants for a small instance; those above, if there is none."""
    paper: Mapping[str, Figures] = field(default_factory=dict)
    """The paper's figures by column, where it has some."""

    @property
    def path(self) -> Path:
        return MODELS / f"{self.model}.py"

    @property
    def group(self) -> str:
        """A name for several cases at once."""
        return self.name

    def chosen(self, *, quick: bool) -> Mapping[str, int]:
        return self.quick if quick and self.quick else self.constants

    def load(self, constants: Mapping[str, int], granularity: Granularity | None = None) -> Program:
        """The model with these constants, prepared for a search."""
        definitions = {name: str(value) for name, value in constants.items()}
        return prepare(load_model(self.path, definitions), granularity=granularity)


AnyCase = TypeVar("AnyCase", bound=Case)


@dataclass(frozen=True, kw_only=True)
class Measured(Generic[AnyCase]):
    """A case with its figures by column."""

    case: AnyCase
    figures: Mapping[str, Figures]
    constants: Mapping[str, int] = field(default_factory=dict)
    """All constants of the model, also those that were not chosen."""

    def __getitem__(self, column: str) -> Figures:
        return self.figures[column]

    def ratio(self, what: str, column: str, to: str) -> float | None:
        """How many times the figure of column `to` that of `column` is; None if that is unknown."""
        more, fewer = getattr(self[column], what), getattr(self[to], what)
        return more / fewer if more and fewer else None


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    quick: bool = False
    only: str | None = None
    repeat: int = 1
    order: str = "dfs"
    limit_seconds: float | None = None
    """None: the benchmark's own limit."""
    workers: int | None = None
    svg: str | None = None
    """The file for a plot."""


@dataclass(frozen=True)
class Line:
    """A printed line: the title columns and the columns of numbers."""

    titles: Sequence[str] = ()
    cells: Sequence[str] = ()
    style: str = ""


@dataclass
class Benchmark(Generic[AnyCase]):
    """A table: described by a subclass, filled by `measure`, then printed."""

    options: BenchOptions = BenchOptions()
    rows: list[Measured[AnyCase]] = field(default_factory=list)
    tools: dict[str, str | None] = field(default_factory=dict)
    """The versions of other tools that take part; None of those that are not installed."""
    interrupted: bool = False
    announce: Announce = lambda text: None
    """Told what is about to be done, while a case is measured."""

    name: ClassVar[str]
    heading: ClassVar[str]
    noun: ClassVar[str] = "model"
    """What `--only` takes."""
    default_limit: ClassVar[float] = math.inf
    """Seconds for a search; infinite where every search runs to its end."""
    default_workers: ClassVar[int | None] = None
    """For benchmarks with a search by several workers."""
    depth_first: ClassVar[str | None] = None
    """Why the order cannot be chosen; None where it can."""
    title_widths: ClassVar[Sequence[int]] = (18,)
    option_help: ClassVar[Mapping[str, str]] = {}
    """What options mean to this benchmark, by name, where it is not what they mean to others."""

    # --- what a subclass describes ----------------------------------------------------------------

    @property
    def cases(self) -> Sequence[AnyCase]:
        raise NotImplementedError

    def is_quick(self, case: AnyCase) -> bool:
        """Whether the case is measured with `--quick`, where there are several."""
        return True

    def find_tools(self, cases: Sequence[AnyCase]) -> dict[str, str | None]:
        return {}

    def compile_searches(self) -> None:
        """Run something small, so that nothing is compiled while a search is measured."""

    def measure_case(self, case: AnyCase) -> Measured[AnyCase]:
        raise NotImplementedError

    @property
    def columns(self) -> Sequence[Mapping[str, int]]:
        """Headings with widths, in groups that stand below each other where there is no room."""
        raise NotImplementedError

    def lines(self, row: Measured[AnyCase]) -> Iterable[Line]:
        raise NotImplementedError

    @property
    def legend(self) -> Iterable[str]:
        return ()

    @property
    def wrong(self) -> list[str]:
        """A sentence for each result that cannot be right: the claims that do not hold."""
        return []

    @property
    def unknown(self) -> list[str]:
        """A sentence for each claim that could not be checked."""
        return []

    def draw(self) -> str | None:
        """A plot of the rows, as SVG; None where nothing can be drawn."""
        return None

    def row_to_json(self, row: Measured[AnyCase]) -> dict[str, object]:
        raise NotImplementedError

    def details(self) -> dict[str, object]:
        """The rest of the JSON object."""
        return {"rows": [self.row_to_json(row) for row in self.rows]}

    # --- measuring --------------------------------------------------------------------------------

    @property
    def limit(self) -> float:
        given = self.options.limit_seconds
        return self.default_limit if given is None else given

    @property
    def workers(self) -> int:
        given = self.options.workers
        return (self.default_workers or 1) if given is None else given

    def check_options(self) -> None:
        """Refuse options that make no sense for this benchmark."""
        options = self.options
        if options.repeat < 1:
            raise OptionError(f"--repeat {options.repeat}: at least one run is needed")
        if options.order not in ("dfs", "bfs"):
            raise OptionError(f"unknown order {options.order!r}; there are: dfs, bfs")
        if options.order != "dfs" and self.depth_first is not None:
            raise OptionError(f"order {options.order!r}: {self.depth_first}")
        if options.limit_seconds is not None and self.default_limit == math.inf:
            message = f"the searches of {self.name!r} always run to their end"
            raise OptionError(f"--limit-time: {message}")
        if not self.limit > 0:
            raise OptionError(f"--limit-time must be greater than 0, not {self.limit}")
        refuse_long("--limit-time", options.limit_seconds)
        if options.workers is not None and self.default_workers is None:
            raise OptionError(f"--workers: the searches of {self.name!r} have one worker each")
        if self.workers < 1:
            raise OptionError(f"--workers must be at least 1, not {self.workers}")
        refuse_many("--workers", self.workers)
        if options.svg is not None:
            if self.draw() is None:
                raise OptionError(f"--svg: {self.name!r} has no plot")
            require_writable(options.svg, "--svg", mark=plot.MARK, reads=None)

    def select(self) -> list[AnyCase]:
        """All cases, or those that are named: one case, or a group of them."""
        only, found = self.options.only, list(self.cases)
        if only is not None:
            found = [case for case in found if _spell(only) in _names(case)]
            if not found:
                raise OptionError(
                    f"unknown {self.noun} {only!r} for --only; there are: {self._known}"
                )
        if not self.options.quick or len(found) == 1:
            return found
        return [case for case in found if self.is_quick(case)]

    @property
    def _known(self) -> str:
        groups = list(dict.fromkeys(case.group for case in self.cases))
        if len(groups) < len(self.cases):
            groups.append(f"and single ones such as {self.cases[-1].name}")
        return ", ".join(groups)

    def measure(self, announce: Announce = lambda text: None) -> list[Measured[AnyCase]]:
        """Fill the table; `announce` is told what is about to be done.

        Rows that are there at an interruption are kept; without any it goes on to the caller.
        """
        self.check_options()
        self.announce = announce
        cases = self.select()
        self.tools = self.find_tools(cases)
        self.compile_searches()
        try:
            for number, case in enumerate(cases, 1):
                announce(f"{case.title} ({number} of {len(cases)}) ...")
                self.rows.append(self.measure_case(case))
        except KeyboardInterrupt:
            if not self.rows:
                raise
            self.interrupted = True
        return self.rows

    def search(
        self,
        case: Case,
        program: Program,
        strategy: str,
        *,
        limit_seconds: float | None = None,
        properties: Iterable[str] = ("assert",),
        times: int | None = None,
    ) -> Figures:
        """Search a program to the end, or to the limit; the run of median time counts."""
        limited = self.default_limit != math.inf
        options = SearchOptions(
            properties=frozenset(properties),
            order=self.options.order,
            stop_at_first=False,
            limit_seconds=(limit_seconds or self.limit) if limited else None,
        )
        found = load_strategy(strategy)
        return repeat(
            times or self.options.repeat,
            lambda: figures_of(
                found.run(program, options, Silent()),
                f"{case.title} by {strategy}",
                limited=limited,
            ),
        )

    def run(self, *, as_json: bool = False) -> int:
        """Measure and print; the exit status is 1 if something cannot be right."""
        self.measure(announce)
        return self.publish(as_json=as_json)

    # --- publishing -------------------------------------------------------------------------------

    def publish(self, *, as_json: bool = False) -> int:
        drawing = None if self.options.svg is None else self.draw()
        if self.options.svg is not None and drawing is not None:
            write(self.options.svg, drawing)
        if as_json:
            sys.stdout.write(json.dumps(self.to_json(), indent=2) + "\n")
        else:
            self.print(make_console())
        if self.interrupted:
            return INTERRUPTED
        return DIFFERS if self.wrong else 0

    def to_json(self) -> dict[str, object]:
        options = self.options
        head: dict[str, object] = {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": self.name,
            "quick": options.quick,
            "repeat": options.repeat,
        }
        if self.depth_first is None:
            head["order"] = options.order
        if self.default_workers is not None:
            head["workers"] = self.workers
        if self.default_limit != math.inf:
            head["limit_seconds"] = self.limit
        return {**head, "interrupted": self.interrupted, **self.details()}

    def print(self, console: Console) -> None:
        """A heading, the table, what the columns mean, and what must not be overlooked."""
        lines = [line for row in self.rows for line in self.lines(row)]
        print_page(
            console,
            self.heading,
            grids(console, self.title_widths, self.columns, lines),
            self.legend,
            quick=self.options.quick,
            warnings=self.warnings(),
        )

    def warnings(self) -> Iterator[str]:
        yield from self.wrong
        yield from self.unknown
        if self.interrupted:
            yield "Interrupted: the rows that follow are missing."


def figures_of(result: SearchResult, what: str, *, limited: bool) -> Figures:
    """The figures of a search that found nothing, and that only an expected limit has stopped."""
    if "interrupted" in result.limits:
        raise KeyboardInterrupt
    obstacles = [] if limited else list(result.limits)
    if result.violation is not None:
        obstacles.append(f"a violation ({result.violation.kind})")
    if obstacles:
        raise OptionError(f"the search of {what} was cut short: {obstacles[0]}")
    statistics, earlier = result.statistics, [one.statistics for one in result.rounds]
    return Figures(
        states=statistics.states,
        transitions=statistics.transitions,
        depth=statistics.depth,
        executions=statistics.executions,
        seconds=statistics.seconds + sum(one.seconds for one in earlier),
        table_bytes=statistics.table_bytes,
        peak_bytes=statistics.peak_bytes,
        rounds=len(earlier),
        earlier_states=sum(one.states for one in earlier),
        limits=result.limits,
    )


def _spell(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _names(case: Case) -> set[str]:
    return {_spell(case.name), _spell(case.title), _spell(case.group)}


def announce(text: str) -> None:
    """Tell somebody who watches what takes so long."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def grids(
    console: Console,
    titles: Sequence[int],
    columns: Sequence[Mapping[str, int]],
    lines: Sequence[Line],
) -> RenderableType:
    """One table of numbers; several below each other where the console is too narrow for that."""
    whole = grid(titles, [column for group in columns for column in group.items()], lines)
    width = Measurement.get(console, console.options.update(max_width=WIDEST), whole).minimum
    if width <= console.width or len(columns) == 1:
        return whole
    parts: list[RenderableType] = []
    first = 0
    for group in columns:
        last = first + len(group)
        part = [Line(line.titles, line.cells[first:last], line.style) for line in lines]
        parts += [grid(titles, group.items(), part), ""]
        first = last
    return Group(*parts[:-1])


def grid(titles: Iterable[int], columns: Iterable[tuple[str, int]], lines: Iterable[Line]) -> Table:
    """A table of numbers: title columns by their widths, then headings with theirs."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for width in titles:
        table.add_column("", min_width=width, no_wrap=True)
    for heading, width in columns:
        table.add_column(heading, justify="right", min_width=width, no_wrap=True)
    for line in lines:
        table.add_row(*line.titles, *line.cells, style=line.style)
    return table


def print_page(
    console: Console,
    heading: str,
    page: RenderableType,
    legend: Iterable[str],
    *,
    quick: bool = False,
    warnings: Iterable[str] = (),
) -> None:
    console.print(Text(heading, "bold"))
    if quick:
        console.print(Text(QUICK, "yellow"))
    console.print()
    console.print(page)
    console.print()
    print_notes(console, legend, "dim")
    print_notes(console, warnings, "red")


def print_notes(console: Console, notes: Iterable[str], style: str) -> None:
    for note in notes:
        console.print(Text(safe(note, glyphs_for(console)), style))


# --- how figures are written ----------------------------------------------------------------------


def marked(text: str, complete: bool) -> str:
    """`>` says that it would be more if the search had come to its end."""
    return text if complete else f">{text}"


def thousands(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def times(ratio: float) -> str:
    """As papers print ratios: two digits, all of them from ten on."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
