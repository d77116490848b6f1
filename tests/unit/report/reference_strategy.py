"""A strategy on the reference search, so that these tests need no native code."""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import (
    PROPERTIES,
    Observer,
    SearchOptions,
    SearchResult,
    Statistics,
    Strategy,
    Violation,
)
from mazurka.stateful.reference.full import explore


def reference_search(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    found = explore(program, races="race" in options.properties)
    statistics = Statistics(
        states=len(found.states),
        transitions=found.transitions,
        seconds=0.5,
        table_bytes=100,
        peak_bytes=1000,
    )
    violation = None
    if found.faults:
        state, move, report = found.faults[0]
        violation = Violation(str(report.fault), (*found.path_to(state), move))
    if found.deadlocks and "deadlock" in options.properties:
        violation = Violation("deadlock", tuple(found.path_to(found.deadlocks[0])))
    if found.races:
        state, one, other, _ = found.races[0]
        violation = Violation("race", tuple(found.path_to(state)), (one, other))
    return SearchResult(statistics, violation)


REFERENCE = Strategy(
    "full", "slow and plain", frozenset(PROPERTIES), ("dfs", "bfs"), reference_search, reduces=False
)
