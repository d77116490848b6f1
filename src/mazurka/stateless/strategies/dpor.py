"""Dynamic partial-order reduction with sleep sets.

Flanagan, Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software* (POPL 2005).
Schedules are run to their end; where two steps could have come in the other order, the thread that
begins that order is tried at the point where they part.

Keeps assertions, all other faults, deadlocks and races, if all executions end; if some do not, the
answer is inconclusive unless a violation was found.  The backtrack points are not the paper's,
which lose executions where there are sleep sets: `stateless.reduction.dpor` says why.
"""

from __future__ import annotations

from mazurka.stateless.families import schedule_strategy

STRATEGY = schedule_strategy("dpor", "schedules, other orders tried where steps race")
