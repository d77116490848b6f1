"""`mazurka bench cartesian`: paper 003's Table 1, with our numbers beside the paper's.

Each row is searched in five ways: without reduction, by cartesian vectors with the cycle rule that
the table was made with, with our own rule, with the table's rule and several workers, and by
dynamic partial-order reduction where all executions end.

What counts as a transition is explained in `cartesian_subjects`.  Of the search without reduction
the engine counts what happens; where finished threads loop, every thread has one transition in
every state, and where they exit, no thread waits in the rows that can be searched at all, so that
nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Unpack

from mazurka.bench.cartesian_results import Measured, Results, Search
from mazurka.bench.cartesian_subjects import Row, select
from mazurka.bench.cartesian_table import print_results
from mazurka.bench.printing import LimitedOptions, announce, publish
from mazurka.errors import OptionError
from mazurka.frontend.python import load_model
from mazurka.ir.native.step import native
from mazurka.ir.passes.prepare import prepare
from mazurka.processors import refuse_many
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.registry import load_strategy
from mazurka.search.result import SearchResult
from mazurka.stateful.cartesian import CycleRule, Finished
from mazurka.stateful.cartesian_search import Vectors, search_cartesian

LIMIT_SECONDS = 60.0
SCHEDULES_SECONDS = 10.0
"""For searches over schedules, which are there to compare with."""
STATES_A_SECOND = 200_000
"""A search that would have to be faster than this, by what is known beforehand, is not tried."""
WORKERS = 2
(SMALLEST,) = select("indexer-1")
INTERRUPTED = 3
"""The exit status, as of other commands that were told to stop."""

Announce = Callable[[str], None]


class CartesianOptions(LimitedOptions, total=False):
    workers: int | None


def run(*, as_json: bool = False, **options: Unpack[CartesianOptions]) -> int:
    """Measure and print; the exit status is 1 if a number differs from the paper's."""
    results = measure(announce=announce, **options)
    status = publish(results, print_results, as_json=as_json, wrong=bool(results.differing))
    return INTERRUPTED if results.interrupted else status


def measure(
    *,
    quick: bool = False,
    only: str | None = None,
    repeat: int = 1,
    order: str = "dfs",
    limit_seconds: float | None = None,
    workers: int | None = None,
    announce: Announce = lambda text: None,
) -> Results:
    """Run the benchmark; `announce` is told what is about to be done."""
    limit = LIMIT_SECONDS if limit_seconds is None else limit_seconds
    workers = WORKERS if workers is None else workers
    if repeat < 1:
        raise OptionError(f"--repeat {repeat}: at least one run is needed")
    if order != "dfs":
        raise OptionError(f"order {order!r}: that of a cartesian search makes no difference")
    if not limit > 0:
        raise OptionError(f"--limit-time must be greater than 0, not {limit}")
    if workers < 1:
        raise OptionError(f"--workers must be at least 1, not {workers}")
    refuse_many("--workers", workers)
    table = _Table(repeat=repeat, limit_seconds=limit, workers=workers)
    rows = select(only, quick=quick)
    replace(table, repeat=1, stopped={}).measure(SMALLEST)  # compiles the searches
    measured: list[Measured] = []
    interrupted = False
    try:
        for number, row in enumerate(rows, 1):
            announce(f"{row.title} ({number} of {len(rows)}) ...")
            measured.append(table.measure(row))
    except KeyboardInterrupt:
        if not measured:
            raise
        interrupted = True
    return Results(
        quick=quick,
        repeat=repeat,
        workers=workers,
        limit_seconds=limit,
        schedules_seconds=table.schedules_seconds,
        rows=tuple(measured),
        interrupted=interrupted,
    )


@dataclass(kw_only=True)
class _Table:
    """The table while it is made."""

    repeat: int
    limit_seconds: float
    workers: int
    stopped: dict[str, str] = field(default_factory=dict)
    """For each family the first row whose search without reduction was stopped by a limit."""

    @property
    def schedules_seconds(self) -> float:
        return min(SCHEDULES_SECONDS, self.limit_seconds)

    def measure(self, row: Row) -> Measured:
        definitions = {name: str(value) for name, value in row.constants.items()}
        program = prepare(load_model(row.path, definitions))
        compiled = native(program)
        options = SearchOptions(
            properties=frozenset({"assert"}),
            stop_at_first=False,
            limit_seconds=self.limit_seconds,
        )

        def vectors(how: Vectors, workers: int = 1) -> Search:
            chosen = replace(options, workers=workers)
            return self.typical(row, lambda: search_cartesian(compiled, chosen, Silent(), how))

        def strategy(name: str, seconds: float) -> Search:
            chosen, found = replace(options, limit_seconds=seconds), load_strategy(name)
            return self.typical(row, lambda: found.run(program, chosen, Silent()))

        as_published = Vectors(rule=CycleRule.TABLE1, finished=row.finished)
        return Measured(
            row=row,
            standard=self.standard(row, len(program.threads), strategy),
            table1=vectors(as_published),
            default=vectors(Vectors()),
            concurrent=vectors(as_published, self.workers),
            dpor=self.dpor(row, strategy),
        )

    def standard(self, row: Row, threads: int, search: Callable[[str, float], Search]) -> Search:
        if row.standard is None:
            if row.family in self.stopped:
                return Search(limits=(f"not tried: {self.stopped[row.family]} took too much",))
            if row.at_least > STATES_A_SECOND * self.limit_seconds:
                there_are = f"there are at least {row.at_least:,} states"
                return Search(limits=(f"not tried: {there_are}",), at_least=row.at_least)
        found = search("full", self.limit_seconds)
        if found.limits:
            self.stopped.setdefault(row.family, row.title)
        if row.finished is Finished.LOOPS and found.states is not None:
            return replace(found, transitions=found.states * threads)
        return found

    def dpor(self, row: Row, search: Callable[[str, float], Search]) -> Search:
        if not row.acyclic:
            return Search(limits=("not tried: its executions do not end",))
        return replace(search("dpor", self.schedules_seconds), states=None)

    def typical(self, row: Row, search: Callable[[], SearchResult]) -> Search:
        """The run of median time; one that was stopped is not repeated."""
        runs: list[Search] = []
        while len(runs) < self.repeat and not (runs and runs[-1].limits):
            runs.append(_outcome(search(), row.title))
        runs.sort(key=lambda found: found.seconds or 0.0)
        return next((found for found in runs if found.limits), runs[(len(runs) - 1) // 2])


def _outcome(result: SearchResult, title: str) -> Search:
    """A search that reached a limit has no counts: there is more than it has seen."""
    if "interrupted" in result.limits:
        raise KeyboardInterrupt
    if result.violation is not None:
        raise OptionError(f"{title} has a violation ({result.violation.kind})")
    statistics = result.statistics
    if result.limits:
        return Search(seconds=statistics.seconds, limits=result.limits)
    return Search(statistics.states, statistics.transitions, statistics.seconds)
