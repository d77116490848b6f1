"""Bounded model checking and property-directed reachability side by side.

One finds violations and proves models whose executions end, the other one proves models whose
executions do not: `mazurka.symbolic.portfolio` runs both, and takes the first answer.  What each
relies on is said in `mazurka.symbolic.strategies.bmc` and `mazurka.symbolic.strategies.pdr`.

Keeps assertions, all other faults, deadlocks, and races, as both do.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import INTERLEAVING, INVARIANT, ROUNDS, UNROLLED, require_solver


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.pdr import InvariantFile
    from mazurka.symbolic.portfolio import PortfolioSearch

    path = options.value(INVARIANT)
    file = InvariantFile(path) if path else None

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        made = PortfolioSearch(searched, asked, observer)
        made.file = file
        return made.run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


STRATEGY = Strategy(
    name="portfolio",
    summary="bmc and pdr side by side: the first that decides has the answer",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(INTERLEAVING, INVARIANT, ROUNDS, UNROLLED),
    refuse=lambda options: require_solver(),
)
