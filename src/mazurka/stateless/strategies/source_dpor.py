"""Dynamic partial-order reduction with source sets.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
1.  As `dpor`, but where a thread is explored already with which the other order may begin, none is
added.

Keeps assertions, all other faults, deadlocks and races, if all executions end; if some do not, the
answer is inconclusive unless a violation was found.  `stateless.reduction.source_dpor` has the
algorithm.
"""

from __future__ import annotations

from mazurka.stateless.families import schedule_strategy

STRATEGY = schedule_strategy("source-dpor", "schedules, as dpor with source sets")
