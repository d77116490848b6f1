"""Optimal dynamic partial-order reduction: each Mazurkiewicz trace once, no run given up.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
2.  Wakeup trees say which sequence of steps leads to the other order of a race without meeting
anything that sleeps.

Keeps assertions, all other faults, and deadlocks, if all executions end; if some do not, the answer
is inconclusive unless a violation was found.  `stateless.reduction.optimal_dpor` has the algorithm.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateless.answering import answer
    from mazurka.stateless.reduction.optimal_dpor import WakeupTrees

    return answer(program, options, observer, WakeupTrees)


STRATEGY = Strategy(
    name="optimal-dpor",
    summary="schedules, each trace once and no run in vain",
    preserves=frozenset({"assert", "deadlock"}),
    orders=("dfs",),
    run=run,
    over_schedules=True,
)
