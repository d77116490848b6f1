"""Bounded model checking, property-directed reachability and decision diagrams side by side.

The first finds violations and proves models whose executions end, the second proves models whose
executions do not, and the third finds all states where data are small:
`mazurka.symbolic.portfolio` runs them, and takes the first answer.  What each relies on is said in
`mazurka.symbolic.strategies.bmc`, `mazurka.symbolic.strategies.pdr` and
`mazurka.symbolic.strategies.bdd`.

Keeps assertions, all other faults, deadlocks, and races, as all three do.
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
    summary="bmc, pdr and (small data) bdd side by side: the first to decide has the answer",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(INTERLEAVING, INVARIANT, ROUNDS, UNROLLED),
    refuse=lambda options: require_solver(),
)
