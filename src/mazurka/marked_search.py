"""Look for races with a search that knows faults only: in a program with marks.

`mazurka.ir.passes.race_marks` makes races faults, and keeps all other faults, but neither deadlocks
nor hangs.  So what else is asked is asked of the program itself first, unless that is assertions
alone.  Where analysis shows that no two accesses can race, nothing more is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from mazurka.analysis.racing import find_racing_cells
from mazurka.analysis.restarts import find_restartable_threads
from mazurka.ir.passes.race_marks.program import mark_races
from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, Round, SearchOptions, SearchResult
from mazurka.search.marked_races import unmark

Search: TypeAlias = Callable[[Program, SearchOptions], SearchResult]

RACE = frozenset({"race"})
FAULTS_ALONE = frozenset({"assert"})
LEAST_SECONDS = 1e-9


def search_with_marks(program: Program, options: SearchOptions, search: Search) -> SearchResult:
    """Search a program for races and whatever else is asked, by a search that finds faults."""
    cells = find_racing_cells(program)
    others = options.properties - RACE
    if not cells:
        return search(program, replace(options, properties=others))
    marked = mark_races(program, cells, find_restartable_threads(program))
    before = None
    if not others <= FAULTS_ALONE:
        started = time.perf_counter()
        before = search(program, replace(options, properties=others))
        found = before.violation is not None and options.stop_at_first
        if found or not CUT_SHORT.isdisjoint(before.limits):
            return before
        options = leave_rest(options, before, time.perf_counter() - started)
    asked = replace(options, properties=others & FAULTS_ALONE | RACE)
    result = search(marked.program, asked)
    if result.violation is not None:
        result = replace(result, violation=unmark(marked, result.violation))
    return result if before is None else join(before, result)


def leave_rest(options: SearchOptions, before: SearchResult, seconds: float) -> SearchOptions:
    """What an earlier search has left of the limits."""
    if options.limit_seconds is not None:
        left = max(options.limit_seconds - seconds, LEAST_SECONDS)
        options = replace(options, limit_seconds=left)
    if options.limit_transitions is not None:
        left_over = max(options.limit_transitions - before.statistics.transitions, 1)
        options = replace(options, limit_transitions=left_over)
    return options


def join(before: SearchResult, result: SearchResult) -> SearchResult:
    """The result of a search for races, with the one for everything else as its first round."""
    earlier = Round(before.statistics, "all but races was looked for first")
    return replace(
        result,
        violation=before.violation or result.violation,
        limits=tuple(dict.fromkeys((*before.limits, *result.limits))),
        notes=tuple(dict.fromkeys((*before.notes, *result.notes))),
        rounds=(*before.rounds, earlier, *result.rounds),
    )
