"""Cartesian vectors: each thread is followed on its own until the threads get in each other's way.

Gueta, Flanagan, Yahav, Sagiv, *Cartesian Partial-Order Reduction* (SPIN 2007), Fig. 6 to 8.
Theorem 1: every local state of a thread that the program can reach is in a prefix of a vector.
Needs no locks and no analysis beforehand: whether two steps depend on each other is decided by the
cells that they touch where they are taken.

The ignoring problem: a prefix is left off for ever only if it returns to one of its own states; the
proof in `stateful.reference.cartesian` shows that a shortest run contains none such.
`--cycle-rule` chooses when a prefix counts as returning, `--workers` how many vectors are made at
the same time.  States are expanded in the order of discovery, and the depth that is reported is
how many vectors follow each other.

Keeps assertions and all other faults, and deadlocks.  Races are a property of two threads at a
time; they become faults by marks that threads leave (`mazurka.ir.passes.race_marks.program`), and
are looked for in a search of their own.  Deviations from the paper:
`stateful.reference.cartesian`.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, Observer, SearchOptions, SearchResult, Strategy
from mazurka.stateful.variants import CYCLE_RULE, WORKERS, CycleRule


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    if "race" not in options.properties:
        return make_vectors(program, options, observer)
    from mazurka.marked_search import search_with_marks

    return search_with_marks(
        program, options, lambda marked, asked: make_vectors(marked, asked, observer)
    )


def make_vectors(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    """Search a program in which nothing is looked for but faults and deadlocks."""
    from mazurka.ir.native.step import native
    from mazurka.stateful.searches.cartesian import Vectors
    from mazurka.stateful.searches.cartesian_workers import cartesian_search

    how = Vectors(rule=CycleRule(options.value(CYCLE_RULE)))
    search = cartesian_search(native(program), options, observer, how)
    result = search.run()
    if not options.self_check or CUT_SHORT.intersection(result.limits):
        return result
    from mazurka.stateful.self_check import check_cartesian

    note = check_cartesian(program, options, result, search.covered())
    return replace(result, notes=(*result.notes, note))


STRATEGY = Strategy(
    name="cartesian",
    summary="threads on their own until they meet: cartesian vectors",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs",),
    run=run,
    options=(CYCLE_RULE, WORKERS),
)
