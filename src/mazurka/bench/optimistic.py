"""`mazurka bench optimistic`: paper 002's table, with our numbers beside the paper's.

Each program is searched three times: with every instruction a step, with every source line a step
(both in full), and by the `optimistic` reduction, on the program as `check` reads it.  Assertions
and deadlocks are looked for each time: Java PathFinder does so, and in the paper's reduction taking
a lock is visible, so that it keeps deadlocks.  Where the reduction needs several rounds, the last
one counts, in which the classification is settled; the others are in the JSON object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Unpack

from mazurka.bench.optimistic_results import Results, Row, Search, print_results
from mazurka.bench.optimistic_subjects import Subject, select
from mazurka.bench.printing import LimitedOptions, announce, publish
from mazurka.errors import OptionError
from mazurka.frontend.python import load_model
from mazurka.ir.passes.granularity import Granularity
from mazurka.ir.passes.prepare import prepare
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.registry import load_strategy
from mazurka.search.result import SearchResult

REDUCTION = "optimistic"
PROPERTIES = frozenset({"assert", "deadlock"})
LIMIT_SECONDS = 60.0
LIMITS = {"time", "memory"}

Announce = Callable[[str], None]


def run(*, as_json: bool = False, **options: Unpack[LimitedOptions]) -> int:
    """Measure and print; the exit status is 1 if a reduced search ever has the most states."""
    results = measure(announce=announce, **options)
    wrong = any(row.not_reduced for row in results.rows)
    return publish(results, print_results, as_json=as_json, wrong=wrong)


def measure(
    *,
    quick: bool = False,
    only: str | None = None,
    repeat: int = 1,
    order: str = "dfs",
    limit_seconds: float | None = None,
    announce: Announce = lambda text: None,
) -> Results:
    """Run the benchmark; `announce` is told what is about to be done."""
    if repeat != 1:
        raise OptionError(f"--repeat {repeat}: states and bytes are the same in every round")
    if order != "dfs":
        raise OptionError(f"order {order!r}: the reduction is a depth-first search")
    limit = LIMIT_SECONDS if limit_seconds is None else limit_seconds
    if not limit > 0:
        raise OptionError(f"--limit-time must be greater than 0, not {limit}")
    rows = []
    for subject in select(only):
        announce(f"{subject.title} ...")
        rows.append(_measure(subject, subject.quick if quick else {}, limit))
    return Results(quick=quick, limit_seconds=limit, rows=tuple(rows))


def _measure(subject: Subject, constants: Mapping[str, int], limit: float) -> Row:
    raw = load_model(subject.path, {name: str(value) for name, value in constants.items()})

    def search(strategy: str, granularity: Granularity | None) -> Search:
        options = SearchOptions(properties=PROPERTIES, stop_at_first=False, limit_seconds=limit)
        program = prepare(raw, granularity=granularity)
        result = load_strategy(strategy).run(program, options, Silent())
        return _outcome(result, f"{subject.title} by {strategy}")

    return Row(
        name=subject.name,
        title=subject.title,
        constants=dict(raw.constants),
        instruction=search("full", Granularity.INSTRUCTION),
        line=search("full", Granularity.LINE),
        reduced=search(REDUCTION, None),
        published=subject.published,
    )


def _outcome(result: SearchResult, what: str) -> Search:
    """A search that reached its limit counts as far as it came; anything else is a mistake."""
    if "interrupted" in result.limits:
        raise KeyboardInterrupt
    others = [limit for limit in result.limits if limit not in LIMITS]
    if result.violation is not None:
        others.append(f"a violation ({result.violation.kind})")
    if others:
        raise OptionError(f"the search of {what} was cut short: {others[0]}")
    statistics = result.statistics
    return Search(
        states=statistics.states,
        transitions=statistics.transitions,
        table_bytes=statistics.table_bytes,
        seconds=statistics.seconds + sum(earlier.statistics.seconds for earlier in result.rounds),
        complete=not result.limits,
        rounds=len(result.rounds),
        earlier_states=sum(earlier.statistics.states for earlier in result.rounds),
    )
