"""Transactions without an answer to the ignoring problem: Fig. 5 of paper 000, unsound on purpose.

A transaction that commits and never ends hides what it did from all other threads, so violations
can be missed; what is found is real.  The paper takes its number of states as a lower bound for
sound searches; it is a heuristic one, since a search that schedules elsewhere may meet states again
that this one does not.  The verdict is never `holds`.
"""

from __future__ import annotations

from mazurka.stateful.families import transaction_strategy
from mazurka.stateful.variants import Completion

STRATEGY = transaction_strategy(
    "transactions",
    "transactions that may never end: unsound, a yardstick",
    Completion.NONE,
    weakness="it may let one thread run for ever and never try the others",
)
