"""Transactions that end where a cycle closes: the baseline that paper 000 compares with.

Fig. 6 with L18 replaced: a committed transaction ends in a state one of whose successors is on
the search stack, and where there is no successor.  This is the cycle proviso of partial-order
reduction: whatever the search has left for good has reached the end of its transaction, so no
thread is ignored for ever.  It keeps what `cpc` keeps, and schedules all threads in every loop.
"""

from __future__ import annotations

from mazurka.stateful.families import transaction_strategy
from mazurka.stateful.variants import Completion

STRATEGY = transaction_strategy(
    "cycle-detection", "transactions, ended where a cycle closes", Completion.CYCLES
)
