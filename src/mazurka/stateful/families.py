"""Strategies that differ from each other only in a variant of one algorithm."""

from __future__ import annotations

from dataclasses import replace

from mazurka.analysis.laws import MoverUse
from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, Observer, SearchOptions, SearchResult, Strategy
from mazurka.search.resources import address_space_is_limited
from mazurka.stateful.variants import (
    MOVERS,
    PROVISO,
    WORKERS,
    Completion,
    Proviso,
    Relation,
    Transaction,
)


def transaction_strategy(
    name: str,
    summary: str,
    completion: Completion,
    *,
    mover_use: MoverUse | None = None,
    inner_loop: bool = False,
    weakness: str = "",
) -> Strategy:
    """A strategy that searches by transactions; `mover_use` is chosen by property if not given."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        from mazurka.ir.native.step import native
        from mazurka.stateful.searches.transactions import TransactionSearch, mover_use_for

        how = Transaction(
            completion=completion_for(completion, options),
            mover_use=mover_use or mover_use_for(options),
            inner_loop=inner_loop,
        )
        return TransactionSearch(native(program), options, observer, how).run()

    return Strategy(
        name=name,
        summary=summary,
        preserves=frozenset({"assert", "deadlock", "hang", "race"}),
        orders=("dfs",),
        run=run,
        uses_locks=True,
        weakness=weakness,
        options=(MOVERS,),
    )


def completion_for(completion: Completion, options: SearchOptions) -> Completion:
    """How transactions are completed: where hangs are asked for, L19 does not count.

    With it, a thread that goes round by both-movers for ever would withhold the other threads if
    its commit point has another way to an end.

    A fault behind such a state is found from the commit point, since the both-movers can be taken
    back.  A hang may consist of just these steps.
    """
    if "hang" in options.properties and completion is Completion.COMMIT_POINTS:
        return Completion.EVERY_STATE
    return completion


def persistent_strategy(name: str, summary: str, relation: Relation) -> Strategy:
    """A strategy that searches with persistent sets made in a certain way."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        from mazurka.stateful.quotient import code_for
        from mazurka.stateful.searches.parallel_persistent import search_by_workers
        from mazurka.stateful.searches.persistent import Sets

        how = Sets(relation=relation, proviso=Proviso(options.value(PROVISO)))
        workers = 1 if address_space_is_limited() else options.value(WORKERS)
        result = search_by_workers(code_for(program, options), options, observer, how, workers)
        if not options.self_check or CUT_SHORT.intersection(result.limits):
            return result
        from mazurka.stateful.self_check import check_persistent

        note = check_persistent(program, options, how.relation, how.proviso, result)
        return replace(result, notes=(*result.notes, note))

    return Strategy(
        name=name,
        summary=summary,
        preserves=frozenset({"assert", "deadlock", "hang", "race"}),
        orders=("dfs",),
        run=run,
        uses_locks=relation is Relation.LOCK_PATTERNS,
        options=(PROVISO, WORKERS),
    )
