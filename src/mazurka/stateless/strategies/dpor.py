"""Dynamic partial-order reduction with sleep sets.

Flanagan, Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software* (POPL 2005).
Schedules are run to their end; where two steps could have come in the other order, the thread that
begins that order is tried at the point where they part.

Keeps assertions, all other faults, and deadlocks, if all executions end; if some do not, the answer
is inconclusive unless a violation was found.  The backtrack points are not the paper's, which lose
executions where there are sleep sets: `stateless.reduction.dpor` says why.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateless.answering import answer
    from mazurka.stateless.reduction.dpor import SleepingReduction

    return answer(program, options, observer, SleepingReduction)


STRATEGY = Strategy(
    name="dpor",
    summary="schedules, other orders tried where steps race",
    preserves=frozenset({"assert", "deadlock"}),
    orders=("dfs",),
    run=run,
    over_schedules=True,
)
