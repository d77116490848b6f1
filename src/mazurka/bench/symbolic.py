"""`mazurka bench symbolic`: paper 004's table and figures, and all back ends beside stored states.

Four tables.  The first has the races of Daisy (section 5): bounded model checking with each
interleaving, and the explicit search with lock patterns, beside the paper's times, memory and
depths; local steps are not merged there, as they are not in the paper.  The second has the two
programs of section 3, whose executions all end: each is proved.  The third has models with more
states than can be stored, since their data are wide: right ones and broken ones, by sweeps, by the
plain relation, and by stored states.  The fourth has models whose verdict is known: every strategy
of the symbolic engine, with its defaults, beside the full search over stored states.

Each search has a solver's process of its own, which it starts, and stops at the first violation.
Times are those of the search: reading the model does not count, making the circuit does.  Of those
that decide a model of the last table, the one that has used the least processor time *wins*, its
solvers included.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rich.console import Console

from mazurka.bench.figures import Figures, repeat
from mazurka.bench.harness import (
    Benchmark,
    Case,
    Line,
    Measured,
    grids,
    marked,
    print_notes,
    print_page,
    thousands,
)
from mazurka.bench.plot import PlotLine, draw_times
from mazurka.errors import MazurkaError
from mazurka.frontend.python import load_model
from mazurka.ir.passes.merge import Granularity
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.report.observer import bytes_text
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.symbolic.options import INTERLEAVING, ROUNDS, require_solver
from mazurka.symbolic.solving.solver import close_idle

RACES, FIGURES_OF_SECTION_3, WIDE, BACK_ENDS = "races", "figures", "wide", "back-ends"
FULL, PARTIAL_ORDER, TRANSACTIONS, SWEEPS = "full", "partial-order", "transactions", "sweeps"
SCHEDULERS = (FULL, PARTIAL_ORDER, TRANSACTIONS, SWEEPS)
EXPLICIT, PORTFOLIO, NOBODY = "explicit", "portfolio", "nobody"
EXPLICIT_SEARCHES = {FULL: "full", PARTIAL_ORDER: "stubborn", TRANSACTIONS: "lock-patterns"}
"""The searches over stored states that reduce as the paper's schedulers do."""
MANY_ROUNDS = 1_000_000
"""So many that time is what ends a search."""
MEGABYTE = 1_000_000
OURS = {"answer": 8, "seconds": 7, "cpu": 6, "memory": 7}
SIZES = {"depth": 6, "transit.": 8, "conflicts": 9}
PARTS = {"encode": 6, "load": 6, "solve": 6}
PAPERS = {"paper\nseconds": 9, "paper\nmemory": 9, "paper\ndepth": 6}
HOLDS = "holds"
HEADINGS = {
    RACES: "Races of Daisy, by bounded model checking (paper 004, section 5)",
    FIGURES_OF_SECTION_3: "The programs of section 3, by bounded model checking",
    WIDE: "Wide data: where stored states do not do",
    BACK_ENDS: "All back ends with their defaults, and the full explicit search",
}


@dataclass(frozen=True, kw_only=True)
class SymbolicCase(Case):
    table: str
    properties: tuple[str, ...] = ("assert", "deadlock")
    failure: str | None = None
    """What must be found; None if it holds."""
    merged: bool = True
    """Whether local steps are merged; where not, steps are the paper's."""

    @property
    def group(self) -> str:
        return self.table

    def load(self, constants: Mapping[str, int], granularity: Granularity | None = None) -> Program:
        if self.merged:
            return super().load(constants, granularity)
        definitions = {name: str(value) for name, value in constants.items()}
        return prepare(load_model(self.path, definitions), merge=False)


def publish_figures(depth: int, seconds: float, megabytes: float) -> Figures:
    return Figures(depth=depth, seconds=seconds, peak_bytes=int(megabytes * MEGABYTE))


def describe_race(
    name: str, title: str, constants: Mapping[str, int], gave_up: int, *paper: Figures
) -> SymbolicCase:
    """A race of Daisy; the paper's plain interleaving ran out of memory at depth `gave_up`."""
    return SymbolicCase(
        name=name,
        title=title,
        model="symbolic/daisy",
        table=RACES,
        constants=constants,
        properties=("race",),
        failure="race",
        merged=False,
        paper={
            FULL: Figures(depth=gave_up, limits=("memory",)),
            **dict(zip((PARTIAL_ORDER, TRANSACTIONS), paper, strict=True)),
        },
    )


def describe_model(
    name: str,
    title: str,
    model: str,
    constants: Mapping[str, int],
    quick: Mapping[str, int],
    failure: str | None = None,
    table: str = BACK_ENDS,
) -> SymbolicCase:
    return SymbolicCase(
        name=name,
        title=title,
        model=model,
        table=table,
        constants=constants,
        quick=quick,
        failure=failure,
    )


def describe_wide(
    name: str, right: str, broken: str, breaking: Mapping[str, int]
) -> tuple[SymbolicCase, SymbolicCase]:
    """A model with wide data, as it is and with constants that break it."""
    model = f"symbolic/{name}"
    return (
        describe_model(name, right, model, {}, {}, table=WIDE),
        describe_model(f"{name}-broken", broken, model, breaking, breaking, "assert", WIDE),
    )


CASES = (
    describe_race(
        "ww1",
        "WW_1: blocks 0 and 1",
        {"FIRST": 0, "SECOND": 1},
        15,
        publish_figures(122, 36707, 999),
        publish_figures(122, 1283, 122),
    ),
    describe_race(
        "ww2",
        "WW_2: blocks 1 and 2",
        {"FIRST": 1, "SECOND": 2},
        15,
        publish_figures(151, 145176, 1870),
        publish_figures(151, 5925, 902),
    ),
    describe_race(
        "seek",
        "seek and read",
        {"SEEK": 1},
        20,
        publish_figures(48, 2.99, 5.7),
        publish_figures(48, 2.89, 5.5),
    ),
    *(
        SymbolicCase(
            name=f"figure{number}",
            title=f"Figure {number}",
            model=f"symbolic/figure{number}",
            table=FIGURES_OF_SECTION_3,
            constants={"FIRSTS": 2},
            quick={"FIRSTS": 1},
            properties=("assert",),
        )
        for number in (1, 2)
    ),
    *describe_wide("ring", "a ring of bytes", "a ring, said too early", {"EARLY": 1}),
    *describe_wide("histogram", "bytes counted", "the same, no lock", {"LOCKED": 0}),
    *describe_wide("maximum", "the largest number", "the same, no swap", {"SWAPPED": 0}),
    *describe_wide("seqlock", "a sequence lock", "the same, unchecked", {"CHECKED": 0}),
    *describe_wide("reservations", "reservations", "the same, seen early", {"LOCKED": 0}),
    *describe_wide("tickets", "32-bit tickets", "the same, divisible", {"INDIVISIBLE": 0}),
    describe_model("peterson", "Peterson's filter lock", "speed/peterson", {"N": 3}, {"N": 2}),
    describe_model("szymanski", "Szymanski's lock", "verdict/szymanski", {}, {}),
    describe_model("bakery", "a bakery", "cpc/bakery", {"VISITS": 2}, {"VISITS": 1}),
    describe_model(
        "philosophers",
        "starving philosophers",
        "speed/philosophers",
        {"N": 12},
        {"N": 3},
        "deadlock",
    ),
    describe_model(
        "buffer",
        "a bounded buffer",
        "speed/bounded_buffer",
        {"PRODUCERS": 1, "CONSUMERS": 1, "SIZE": 2},
        {"PRODUCERS": 1, "CONSUMERS": 1, "SIZE": 1},
    ),
    describe_model(
        "counters",
        "counters under a lock",
        "symbolic/counters",
        {"THREADS": 2, "TIMES": 10},
        {"THREADS": 2, "TIMES": 2},
    ),
    describe_model(
        "fibonacci",
        "sums of sums",
        "symbolic/fibonacci",
        {"TIMES": 6, "LIMIT": 378},
        {"TIMES": 2, "LIMIT": 9},
    ),
    describe_model(
        "commit",
        "a commit that fails",
        "verdict/two_phase_commit",
        {"N": 6},
        {"N": 3},
        "assert",
    ),
    describe_model(
        "transfer",
        "transfers, two locks",
        "verdict/transfer",
        {"ACCOUNTS": 2, "CLERKS": 2},
        {"ACCOUNTS": 2, "CLERKS": 1},
    ),
    describe_model("bytes", "a ring of bytes", "symbolic/ring", {}, {}),
    describe_model("checksum", "a checksum", "symbolic/checksum", {}, {}),
    describe_model("twins", "two 32-bit counters", "symbolic/twins", {}, {}),
    describe_model("daisy", "Daisy, mended", "symbolic/daisy", {"FIXED": 1, "SEEK": 1}, {}),
)
QUICK_CASES = ("seek", "figure1", "figure2", "counters", "philosophers")


class SymbolicTable(Benchmark[SymbolicCase]):
    name = "symbolic"
    heading = "Symbolic search: paper 004, and all back ends beside stored states"
    default_limit = 60.0
    depth_first = "a circuit has no order in which states are visited"

    @property
    def cases(self) -> Sequence[SymbolicCase]:
        return CASES

    def is_quick(self, case: SymbolicCase) -> bool:
        return case.name in QUICK_CASES

    def check_options(self) -> None:
        super().check_options()
        require_solver()

    def compile_searches(self) -> None:
        (figure,) = [case for case in CASES if case.name == "figure1"]
        for strategy in ("full", "stubborn", "lock-patterns", *strategy_names("symbolic")):
            self.try_strategy(figure, figure.load({}), strategy, {})

    def measure_case(self, case: SymbolicCase) -> Measured[SymbolicCase]:
        program = case.load(case.chosen(quick=self.options.quick))
        row = Measured(case=case, figures={}, constants=program.constants)
        try:
            for column, (strategy, tuning) in find_searches(case).items():
                self.announce(f"  {column} ...")
                measure = partial(self.try_strategy, case, program, strategy, tuning)
                row = replace(
                    row, figures={**row.figures, column: repeat(self.options.repeat, measure)}
                )
        except KeyboardInterrupt:
            if row.figures:
                self.rows.append(row)
            raise
        return row

    def try_strategy(
        self, case: SymbolicCase, program: Program, strategy: str, tuning: Mapping[str, Any]
    ) -> Figures:
        """Search once, up to the first violation or the limit."""
        options = SearchOptions(
            properties=frozenset(case.properties), limit_seconds=self.limit, tuning=dict(tuning)
        )
        close_idle()  # a solver's process would bring along what an earlier search took
        before = measure_processors()
        try:
            result = load_strategy(strategy).run(program, options, Silent())
        except MazurkaError as refusal:
            return Figures(error=str(refusal))
        close_idle()  # what it has used is known when it has ended
        return replace(read_figures(result), processor_seconds=measure_processors() - before)

    # --- what cannot be right ---------------------------------------------------------------------

    @property
    def wrong(self) -> list[str]:
        found = []
        for row in self.rows:
            wanted = row.case.failure or HOLDS
            for column, figures in row.figures.items():
                answer = find_answer(figures)
                if answer not in (wanted, None):
                    found.append(f"{row.case.title}: {column} says {answer}, but it is {wanted}.")
            if row.case.table == FIGURES_OF_SECTION_3:
                columns = [f"{EXPLICIT}, {each}" for each in EXPLICIT_SEARCHES]
                counts = [row[each].transitions or 0 for each in columns if each in row.figures]
                if counts != sorted(counts, reverse=True):
                    found.append(f"{row.case.title}: a reduced search has more transitions.")
        return found

    # --- printing ---------------------------------------------------------------------------------

    def print(self, console: Console) -> None:
        """A table for each kind of cases, with a line for each search."""
        for table, heading in HEADINGS.items():
            rows = [row for row in self.rows if row.case.table == table]
            if not rows:
                continue
            columns = [OURS, SIZES, PARTS, *([PAPERS] if table == RACES else [])]
            lines = [line for row in rows for line in write_lines(row)]
            print_page(
                console,
                heading,
                grids(console, (21, 23), columns, lines),
                [*legend_of(table, self.limit), *(tell_wins(rows) if table == BACK_ENDS else ())],
                quick=self.options.quick,
            )
            console.print()
        print_notes(console, self.warnings(), "red")

    def draw(self) -> str:
        groups = [
            (
                f"{row.case.title} ({row.case.failure or HOLDS})",
                [
                    PlotLine(
                        column.replace(", ", " "),
                        figures.seconds,
                        note=write_answer(figures),
                        decided=find_answer(figures) is not None,
                    )
                    for column, figures in row.figures.items()
                ],
            )
            for row in self.rows
        ]
        return draw_times("Seconds to a verdict", groups)

    def row_to_json(self, row: Measured[SymbolicCase]) -> dict[str, object]:
        names = (
            "failure", "proof", "states", "transitions", "depth", "steps", "conflicts", "seconds",
            "processor_seconds", "encoding_seconds", "loading_seconds", "solving_seconds",
            "peak_bytes", "limits", "error",
        )  # fmt: skip
        return {
            "table": row.case.table,
            "model": row.case.name,
            "title": row.case.title,
            "constants": dict(row.constants),
            "properties": list(row.case.properties),
            "expected": row.case.failure or HOLDS,
            "winner": find_winner(row.figures),
            "searches": {
                column: {"answer": find_answer(figures), **figures.to_json(*names)}
                for column, figures in row.figures.items()
            },
            "paper": {
                column: figures.to_json("depth", "seconds", "peak_bytes", "limits")
                for column, figures in row.case.paper.items()
            },
        }


TABLE = SymbolicTable


def find_searches(case: SymbolicCase) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """By column the strategy, and options of it."""
    if case.table == BACK_ENDS:
        searches: dict[str, tuple[str, Mapping[str, Any]]] = {EXPLICIT: ("full", {})}
        for name in strategy_names("symbolic"):
            options = load_strategy(name).options
            searches[name] = (name, {ROUNDS.name: MANY_ROUNDS} if ROUNDS in options else {})
        return searches
    bounded = {
        each: ("bmc", {INTERLEAVING.name: each, ROUNDS.name: MANY_ROUNDS}) for each in SCHEDULERS
    }
    if case.table == WIDE:
        plain = {each: bounded[each] for each in (SWEEPS, FULL)}
        others: dict[str, tuple[str, Mapping[str, Any]]]
        others = {each: (each, {}) for each in ("events", "k-induction", "pdr")}
        return {**plain, **others, EXPLICIT: ("full", {})}
    if case.table == RACES:
        return {**bounded, f"{EXPLICIT}, {TRANSACTIONS}": ("lock-patterns", {})}
    explicit: dict[str, tuple[str, Mapping[str, Any]]]
    explicit = {f"{EXPLICIT}, {each}": (name, {}) for each, name in EXPLICIT_SEARCHES.items()}
    return {**bounded, **explicit}


def read_figures(result: SearchResult) -> Figures:
    if "interrupted" in result.limits:
        raise KeyboardInterrupt
    last = result.statistics
    parts = [*(each.statistics for each in result.rounds), last]
    encoding = [each.encoding_seconds for each in parts if each.encoding_seconds is not None]
    loading = [each.loading_seconds for each in parts if each.loading_seconds is not None]
    conflicts = [each.conflicts for each in parts if each.conflicts is not None]
    violation = result.violation
    return Figures(
        states=last.states if last.unrolled is None else None,
        transitions=last.transitions if last.unrolled is None else None,
        depth=last.depth,
        seconds=sum(each.seconds for each in parts),
        encoding_seconds=sum(encoding) if encoding else None,
        loading_seconds=sum(loading) if loading else None,
        conflicts=sum(conflicts) if conflicts else None,
        peak_bytes=max(each.peak_bytes for each in parts),
        steps=None if violation is None else len(violation.leading),
        proof=last.proof,
        failure=None if violation is None else violation.kind,
        limits=result.limits,
    )


def find_answer(figures: Figures) -> str | None:
    """What a search says; None where it has come to no verdict."""
    if figures.failure is not None:
        return figures.failure
    return HOLDS if figures.complete else None


# --- who wins -------------------------------------------------------------------------------------


def measure_processors() -> float:
    """The processor time of this process, and of the others that it has started and that have
    ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def find_winner(figures: Mapping[str, Figures]) -> str | None:
    """The column that has decided with the least processor time; None if none has."""
    decided = {
        column: each.processor_seconds
        for column, each in figures.items()
        if find_answer(each) is not None and each.processor_seconds is not None
    }
    return min(decided, key=decided.__getitem__, default=None)


def tell_wins(rows: Sequence[Measured[SymbolicCase]]) -> Iterator[str]:
    """Who wins which models: among all searches, and among the back ends of the circuit."""
    yield f"Least processor time: {list_wins(rows, frozenset())}."
    others = frozenset({EXPLICIT, PORTFOLIO})
    yield f"Of the back ends alone, without {PORTFOLIO}: {list_wins(rows, others)}."


def list_wins(rows: Sequence[Measured[SymbolicCase]], without: frozenset[str]) -> str:
    won: dict[str, list[str]] = {}
    columns = dict.fromkeys(column for row in rows for column in row.figures)
    for row in rows:
        figures = {column: x for column, x in row.figures.items() if column not in without}
        won.setdefault(find_winner(figures) or NOBODY, []).append(row.case.name)
    losers = [each for each in columns if each not in won and each not in without]
    told = [f"{column} ({', '.join(names)})" for column, names in won.items()]
    if losers:
        told.append(f"{' and '.join(losers)} nowhere")
    return ", ".join(told)


# --- how figures are written ----------------------------------------------------------------------


def write_answer(figures: Figures) -> str:
    """`0.12 s holds`, `>60.00 s` or `refused`."""
    if figures.error is not None:
        return "refused"
    answer, seconds = find_answer(figures), f"{figures.seconds or 0.0:.2f} s"
    return f">{seconds}" if answer is None else f"{seconds} {answer}"


def write_lines(row: Measured[SymbolicCase]) -> Iterator[Line]:
    """What each search of a case has come to, and the paper's figures beside."""
    for number, (column, figures) in enumerate(row.figures.items()):
        yield Line(
            [row.case.title if number == 0 else "", column],
            [
                find_answer(figures) or ("refused" if figures.error else "-"),
                marked(_write_seconds(figures.seconds), find_answer(figures) is not None),
                _write_seconds(figures.processor_seconds),
                _write_bytes(figures),
                thousands(figures.depth),
                thousands(figures.transitions),
                thousands(figures.conflicts),
                _write_seconds(figures.encoding_seconds),
                _write_seconds(figures.loading_seconds),
                _write_seconds(figures.solving_seconds),
                *_write_paper(row.case.paper.get(column, Figures())),
            ],
        )
    yield Line(["", ""], [""] * sum(map(len, (OURS, SIZES, PARTS, PAPERS))))


def _write_seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}"


def _write_bytes(figures: Figures) -> str:
    return "" if figures.peak_bytes is None else bytes_text(figures.peak_bytes)


def _write_paper(figures: Figures) -> list[str]:
    seconds = "" if figures.seconds is None else f"{figures.seconds:,g}"
    memory = "none left" if figures.limits else _write_bytes(figures)
    return [seconds, memory, thousands(figures.depth)]


def legend_of(table: str, limit: float) -> Iterable[str]:
    yield f">: {limit:g} s, or something else, have ended the search without an answer."
    yield (
        "cpu: the processor time of the search and its solvers. depth: transitions of the circuit,"
        " which are steps or rounds; for explicit searches the height of the stack. conflicts: how"
        " often the solvers of a bounded search have gone back. encode: making"
        " the circuit and its copies. load: handing clauses to the solver. solve: the rest of the"
        " seconds."
    )
    if table == RACES:
        yield (
            "The models are written from the paper's description, and the paper's computer was one"
            " of 2006: compare columns with each other."
        )
