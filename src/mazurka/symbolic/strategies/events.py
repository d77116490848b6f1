"""Executions as partial orders of events, found by a SAT solver.

Alglave, Kroening, Tautschnig, *Partial Orders for Efficient Bounded Model Checking of Concurrent
Software* (CAV 2013): threads are unwound, each on its own, and clauses say in which order their
events can be, and who reads from whom (`mazurka.symbolic.events.search`).  What is handed to the
solver grows with the accesses to shared cells, not with the length of executions times the state.

Keeps assertions, all other faults, deadlocks, and races, which become faults by marks that threads
leave (`mazurka.ir.passes.race_marks.program`).  It proves programs whose threads end after so many
passes over their loops; others are searched for `--rounds` passes, and then the answer is
inconclusive.  An execution is looked at as a whole, so there is no ignoring problem.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import ROUNDS, UNROLLED, require_solver


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.events.search import EventSearch

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        return EventSearch(searched, asked, observer).run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


STRATEGY = Strategy(
    name="events",
    summary="executions as partial orders of events, handed to a SAT solver",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(ROUNDS, UNROLLED),
    refuse=lambda options: require_solver(),
)
