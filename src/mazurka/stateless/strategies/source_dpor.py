"""Dynamic partial-order reduction with source sets.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
1.  As `dpor`, but where a thread is explored already with which the other order may begin, none is
added.

Keeps assertions, all other faults, and deadlocks, if all executions end; if some do not, the answer
is inconclusive unless a violation was found.  `stateless.reduction.source_dpor` has the algorithm.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateless.answering import answer
    from mazurka.stateless.reduction.source_dpor import SourceSets

    return answer(program, options, observer, SourceSets)


STRATEGY = Strategy(
    name="source-dpor",
    summary="schedules, as dpor with source sets",
    preserves=frozenset({"assert", "deadlock"}),
    orders=("dfs",),
    run=run,
    over_schedules=True,
)
