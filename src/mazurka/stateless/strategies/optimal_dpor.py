"""Optimal dynamic partial-order reduction: each Mazurkiewicz trace once, no run given up.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
2.  Wakeup trees say which sequence of steps leads to the other order of a race without meeting
anything that sleeps.

Keeps assertions, all other faults, deadlocks and races, if all executions end; if some do not, the
answer is inconclusive unless a violation was found.  `stateless.reduction.optimal_dpor` has the
algorithm.
"""

from __future__ import annotations

from mazurka.stateless.families import schedule_strategy

STRATEGY = schedule_strategy(
    "optimal-dpor",
    "schedules, each trace once and no run in vain",
    undivided="whose wakeup trees come from runs that other workers would make",
)
