"""Property-directed reachability (IC3): proofs by inductive invariants.

Bradley, *SAT-Based Model Checking without Unrolling* (VMCAI 2011); Eén, Mishchenko, Brayton,
*Efficient Implementation of Property Directed Reachability* (FMCAD 2011).  Clauses about the state
are learned from states that lead to a violation, until they are an inductive invariant
(`mazurka.symbolic.pdr`).  Executions need not end.

Keeps assertions, all other faults, deadlocks, and races, which become faults by marks that threads
leave (`mazurka.ir.passes.race_marks.program`).  The invariant is checked by another solver, and
`--invariant` writes it.  With `--interleaving full` and `sweeps` the relation has every step of
every thread: there is no reduction, and no ignoring problem.  With `partial-order` and
`transactions` it has those that paper 004's schedulers allow, and the ignoring problem is answered
by sticky locations (`mazurka.symbolic.interleavings.stubborn`, with the proof).
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy
from mazurka.symbolic.options import (
    INTERLEAVING,
    INVARIANT,
    UNROLLED,
    require_interleaving_of_states,
    require_solver,
)


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.marked_search import search_with_marks
    from mazurka.symbolic.pdr import InvariantFile, InvariantSearch

    path = options.value(INVARIANT)
    file = InvariantFile(path) if path else None

    def search(searched: Program, asked: SearchOptions) -> SearchResult:
        made = InvariantSearch(searched, asked, observer)
        made.file = file
        return made.run()

    if "race" in options.properties:
        return search_with_marks(program, options, search)
    return search(program, options)


def refuse(options: SearchOptions) -> None:
    require_solver()
    require_interleaving_of_states(options)


STRATEGY = Strategy(
    name="pdr",
    summary="a circuit of the program, and an inductive invariant of it that a SAT solver finds",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    takes_any_choice=True,
    run=run,
    options=(INTERLEAVING, INVARIANT, UNROLLED),
    refuse=refuse,
)
