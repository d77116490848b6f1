"""Iterative context bounding: all executions with 0 preemptions, then with 1, with 2, and so on.

Musuvathi and Qadeer, *Iterative Context Bounding for Systematic Testing of Multithreaded Programs*,
PLDI 2007.  A failure is found with the fewest preemptions that show it.  The search ends with the
bound that was asked for, or earlier, when no execution needs more preemptions.

What a level inherits differs.  Algorithm 2 keeps its terminal states and what it knows about their
prefixes, so that a level runs only what is new in it.  H of Algorithm 1 is of no use to the next
level: a state that was visited may have successors that only the higher bound allows; and cb-dfs
keeps nothing.  These two begin anew.  In any case `Level.executions` counts all executions within
the bound.
"""

from __future__ import annotations

from typing import Any

from mazurka.errors import OptionError
from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import BoundedSearch, ContextBoundedDFS
from mazurka.stateless.bounded.graph_search import GraphSearch
from mazurka.stateless.explored import Explored, Progress, RunOptions
from mazurka.stateless.reduction.dpor import SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepSets
from mazurka.stateless.reduction.source_dpor import SourceSets
from mazurka.stateless.runs import Runnable
from mazurka.stateless.search import Search

ALGORITHMS: dict[str, type[BoundedSearch]] = {
    kind.name: kind for kind in (Algorithm2, Algorithm1, ContextBoundedDFS)
}
REDUCTIONS: dict[str, type[ScheduleSearch]] = {
    kind.name: kind for kind in (WakeupTrees, SourceSets, SleepingReduction, SleepSets)
}
"""Searches without a bound."""
DEFAULT = Algorithm2.name


def find_search(name: str) -> type[Search[Any]]:
    known: dict[str, type[Search[Any]]] = {**ALGORITHMS, **REDUCTIONS}
    if name not in known:
        raise OptionError(f"there is no search {name!r}; there are {', '.join(known)}")
    return known[name]


def explore(
    program: Runnable,
    bound: int | None,
    algorithm: str = DEFAULT,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> Explored:
    """Run all executions with at most `bound` preemptions, level by level.

    Without a bound there is one level, and everything is seen in it.  The reductions have none.
    """
    if bound is not None and algorithm in REDUCTIONS:
        raise OptionError(f"{algorithm} has no bound on preemptions")
    search = find_search(algorithm)(program, options, progress)
    if isinstance(search, GraphSearch):
        search.begin_anew(silently=True)
    return explore_levels(search, bound)


def explore_levels(search: Search[Any], bound: int | None) -> Explored:
    """Explore level by level with a search that has not begun."""
    if bound is None:
        search.explore(None)
        return search.explored
    for level in range(bound + 1):
        reached = search.explore(level)
        if not reached.complete or reached.exhaustive:
            break
    return search.explored
