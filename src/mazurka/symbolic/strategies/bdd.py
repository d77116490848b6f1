"""Reachability with binary decision diagrams: all states at a time.

Burch, Clarke, McMillan, Dill, Hwang, *Symbolic Model Checking: 10^20 States and Beyond* (LICS
1990): the set of reachable states is a diagram over the bits of the state, and grows by images of
the transition relation until nothing is new (`mazurka.symbolic.bdd`).  Executions need not end.

Keeps assertions, all other faults, deadlocks, and races, which become faults by marks that threads
leave (`mazurka.ir.passes.race_marks.program`).  With `--interleaving full` and `sweeps` the
relation has every step of every thread: there is no reduction, and no ignoring problem.  With
`partial-order` and `transactions` it has those that paper 004's schedulers allow, and the ignoring
problem is answered by sticky locations (`mazurka.symbolic.interleavings.stubborn`, with the proof).
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import (
    INTERLEAVING,
    UNROLLED,
    require_diagrams,
    require_interleaving_of_states,
)


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.bdd import DiagramSearch

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        return DiagramSearch(searched, asked, observer).run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


def refuse(options: SearchOptions) -> None:
    require_diagrams()
    require_interleaving_of_states(options)


STRATEGY = Strategy(
    name="bdd",
    summary="all reachable states as a binary decision diagram",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    reduces=False,
    run=run,
    options=(INTERLEAVING, UNROLLED),
    refuse=refuse,
)
