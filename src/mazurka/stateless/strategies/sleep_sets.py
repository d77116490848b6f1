"""Sleep sets alone: one execution of each Mazurkiewicz trace, every thread tried everywhere.

Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems* (LNCS 1032, chapter
5).  What may be left out is known only when it comes up, so many runs are begun in vain; the others
of its kind, which look for races, are measured against it.

Keeps assertions, all other faults, deadlocks and races, if all executions end; if some do not, the
answer is inconclusive unless a violation was found.  `stateless.reduction.sleep_sets` has the
algorithm.
"""

from __future__ import annotations

from mazurka.stateless.families import schedule_strategy

STRATEGY = schedule_strategy("sleep-sets", "schedules, equivalent ones left out by sleep sets")
