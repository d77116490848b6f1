"""Transactions without an answer to the ignoring problem: Fig. 5 of paper 000, unsound on purpose.

A transaction that commits and never ends hides what it did from all other threads, so violations
can be missed; what is found is real.  The paper uses it as a lower bound: no sound reduction with the
same movers can do with fewer states.  Its verdict is never `holds`.
"""

from __future__ import annotations

from mazurka.stateful.completion import Completion
from mazurka.stateful.rounds import transaction_strategy

STRATEGY = transaction_strategy(
    "transactions",
    "transactions that may never end: unsound, a yardstick",
    Completion.NONE,
    sound=False,
)
