"""k-induction: bounded model checking that also proves models whose executions do not end.

Sheeran, Singh, Stålmarck, *Checking Safety Properties Using Induction and a SAT-Solver* (FMCAD
2000).  Beside the bounded search, the solver is asked whether so many transitions without a
violation, from any state, can be followed by one (`mazurka.symbolic.induction`, with the proof).
A transition is one step of one thread.

Keeps assertions, all other faults, deadlocks, and races, which become faults by marks that threads
leave (`mazurka.ir.passes.race_marks.program`).  The relation has every step of every thread: there
is no reduction, and no ignoring problem.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import ROUNDS, UNROLLED, require_solver


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.induction import InductionSearch

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        return InductionSearch(searched, asked, observer).run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


STRATEGY = Strategy(
    name="k-induction",
    summary="a circuit of the program, unrolled until violations are excluded by induction",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(ROUNDS, UNROLLED),
    refuse=lambda options: require_solver(),
)
