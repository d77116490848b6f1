"""Compare searches whose workers expand a level in no particular order with the search of one.

The counts of whole searches are the same, and so are limits and notes.  Of a program with a
violation, one is found whose schedule is as short as the shortest that a single worker finds, or
shorter: a single worker reports the first that it meets in a level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.strategies.full import STRATEGY
from tests.soundness.replaying import replays

EVERYTHING = SearchOptions(
    properties=frozenset({"assert", "deadlock", "hang", "race"}),
    order="bfs",
    stop_at_first=False,
    limit_bytes=1 << 26,
)
FIRST = replace(EVERYTHING, stop_at_first=True)
Search = Callable[[Program, SearchOptions], SearchResult]


def by_workers(workers: int) -> Search:
    """The search by so many threads of this machine."""

    def search(program: Program, options: SearchOptions) -> SearchResult:
        return STRATEGY.run(program, replace(options, tuning={"workers": workers}), Silent())

    return search


alone = by_workers(1)


def counts(result: SearchResult) -> tuple[object, ...]:
    made = result.statistics
    limits = frozenset(result.limits)
    return made.states, made.transitions, made.depth, limits, result.notes


def difference(program: Program, search: Search, *, symmetry: bool = False) -> str | None:
    """What is wrong with a search, if anything."""
    whole = replace(EVERYTHING, symmetry=symmetry)
    expected, found = alone(program, whole), search(program, whole)
    if counts(found) != counts(expected):
        return f"counts {counts(found)} instead of {counts(expected)}"
    if (found.violation is None) != (expected.violation is None):
        return f"violation {found.violation} instead of {expected.violation}"
    first = replace(FIRST, symmetry=symmetry)
    expected, found = alone(program, first), search(program, first)
    if expected.violation is None or found.violation is None:
        both = found.violation is expected.violation
        return None if both else f"{found.violation} instead of {expected.violation}"
    if len(found.violation.leading) > len(expected.violation.leading):
        return f"the schedule {found.violation} is longer than {expected.violation}"
    if not replays(program, found.violation, first.properties):
        return f"the schedule {found.violation} leads elsewhere"
    return None
