"""Bounded model checking with a SAT solver.

Biere, Cimatti, Clarke, Zhu, *Symbolic Model Checking without BDDs* (TACAS 1999): the program as a
circuit, unrolled transition by transition (`mazurka.symbolic.bmc`).  No state is stored, so wide
data cost no more than their bits.

Keeps assertions, all other faults, deadlocks, and races, which become faults by marks that threads
leave (`mazurka.ir.passes.race_marks.program`).  It proves programs whose executions all end, if
the solver gets so far; others are searched for so many rounds, and then the answer is inconclusive.
With `--interleaving sweeps` one of all schedules that differ only in the order of independent steps
is kept (`mazurka.symbolic.interleavings.earliest`, with the proof).  No thread is put off: a run is
looked at as a whole, so there is no ignoring problem.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import INTERLEAVING, ROUNDS, UNROLLED, require_solver


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.bmc import CircuitSearch

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        return CircuitSearch(searched, asked, observer).run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


STRATEGY = Strategy(
    name="bmc",
    summary="a circuit of the program, unrolled and handed to a SAT solver",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(INTERLEAVING, ROUNDS, UNROLLED),
    refuse=lambda options: require_solver(),
)
