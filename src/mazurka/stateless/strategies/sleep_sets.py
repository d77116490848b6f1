"""Sleep sets alone: one execution of each Mazurkiewicz trace, every thread tried everywhere.

Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032, chapter
5).  What may be left out is known only when it comes up, so many runs are begun in vain; the others
of its kind, which look for races, are measured against it.

Keeps assertions, all other faults, and deadlocks, if all executions end; if some do not, the answer
is inconclusive unless a violation was found.  `stateless.reduction.sleep_sets` has the algorithm.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateless.answering import answer
    from mazurka.stateless.reduction.sleep_sets import SleepSets

    return answer(program, options, observer, SleepSets)


STRATEGY = Strategy(
    name="sleep-sets",
    summary="schedules, equivalent ones left out by sleep sets",
    preserves=frozenset({"assert", "deadlock"}),
    orders=("dfs",),
    run=run,
    over_schedules=True,
)
