"""`mazurka bench cpc`: paper 000's Table 1, with our numbers beside the paper's.

Each program is searched to the end for assertions: without reduction, by transactions that never
end by force (unsound), by commit point completion, and by cycle detection.  What counts is
distinct program states, phases removed.  The last round of a search counts, in which the
classification of the cells is settled; the rounds before it are reported apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Unpack

from mazurka.bench.cpc_results import Results, Row, Search, print_results
from mazurka.bench.cpc_subjects import Subject, select
from mazurka.bench.printing import Options, announce, publish
from mazurka.errors import OptionError
from mazurka.frontend.python import load_model
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.registry import load_strategy

STRATEGIES = ("full", "transactions", "cpc", "cycle-detection")

Announce = Callable[[str], None]


def run(*, as_json: bool = False, **options: Unpack[Options]) -> int:
    """Measure and print; the exit status is 1 if `cpc` ever has more states than `full`."""
    results = measure(announce=announce, **options)
    wrong = any(row.exceeds_full for row in results.rows)
    return publish(results, print_results, as_json=as_json, wrong=wrong)


def measure(
    *,
    quick: bool = False,
    only: str | None = None,
    repeat: int = 1,
    order: str = "dfs",
    announce: Announce = lambda text: None,
) -> Results:
    """Run the benchmark; `announce` is told what is about to be done."""
    if repeat < 1:
        raise OptionError(f"--repeat {repeat}: at least one run is needed")
    if order != "dfs":
        raise OptionError(f"order {order!r}: commit point completion is a depth-first search")
    rows = []
    for subject in select(only):
        announce(f"{subject.title} ...")
        rows.append(_measure(subject, subject.quick if quick else {}, repeat))
    return Results(repeat=repeat, quick=quick, rows=tuple(rows))


def _measure(subject: Subject, constants: Mapping[str, int], repeat: int) -> Row:
    program = _program(subject.path, constants)
    searches = {}
    for strategy in STRATEGIES:
        runs = [_search(program, strategy, subject.title) for _ in range(repeat)]
        runs.sort(key=lambda search: search.seconds)
        searches[strategy] = runs[(repeat - 1) // 2]
    return Row(
        name=subject.name,
        title=subject.title,
        constants=dict(program.constants),
        lines=subject.lines,
        searches=searches,
        published=subject.published,
    )


def _program(path: Path, constants: Mapping[str, int]) -> Program:
    return prepare(load_model(path, {name: str(value) for name, value in constants.items()}))


def _search(program: Program, strategy: str, title: str) -> Search:
    options = SearchOptions(properties=frozenset({"assert"}), stop_at_first=False)
    result = load_strategy(strategy).run(program, options, Silent())
    if "interrupted" in result.limits:
        raise KeyboardInterrupt
    if result.limits or result.violation is not None:
        what = result.limits[0] if result.limits else "a violation"
        raise OptionError(f"the search of {title} by {strategy} was cut short: {what}")
    statistics = result.statistics
    return Search(
        states=statistics.states,
        transitions=statistics.transitions,
        seconds=statistics.seconds + sum(earlier.statistics.seconds for earlier in result.rounds),
        rounds=len(result.rounds),
        earlier_states=sum(earlier.statistics.states for earlier in result.rounds),
    )
