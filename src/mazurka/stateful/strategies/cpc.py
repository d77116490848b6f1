"""Transactions with Commit Point Completion: Fig. 6 and 7 of paper 000, with line L19.

Levin, Palmer, Qadeer, Rajamani, *Sound Transaction-based Reduction without Cycle Detection* (SPIN
2005).  Other threads are scheduled only where a thread's transaction has ended.  Theorems 1 to 3:
if RM and LM have the four mover properties, a thread goes wrong in the program if and only if it
goes wrong in the search.  The movers come from the synchronization discipline that is inferred on
the way (`mazurka.analysis.discipline`), so nothing has to be annotated.

The ignoring problem: a committed transaction that never ends would keep the other threads waiting
for ever.  When a commit point is popped and nothing below it has ended its transaction, all threads
are scheduled there (`stateful.kernels.transactions.must_end`).

Where hangs are asked for, all committed states are completed, as `cpc-strict` does
(`stateful.families.completion_for`).

Keeps assertions and all other faults.  Deadlocks and races are kept, too, because right movers
count as non-movers where these are asked for (`stateful.searches.transactions.mover_use_for`).
Deviations from the paper: `stateful.reference.cpc`.
"""

from __future__ import annotations

from mazurka.stateful.families import transaction_strategy
from mazurka.stateful.variants import Completion

STRATEGY = transaction_strategy(
    "cpc", "transactions, completed at commit points", Completion.COMMIT_POINTS
)
