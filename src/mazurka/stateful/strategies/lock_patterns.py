"""Stubborn sets that take account of the locks which threads hold.

Kahlon, Gupta, Sinha (CAV 2006), Algo 3: as `stubborn`, but another thread's future ends where it
needs a lock that the thread in question holds, since that one has to move first.  The paper's
*on-the-fly transactions*: no lock has to protect anything in particular.  Theorem 1 says that the
sets are persistent, Theorem 2 that for the same choices they are no larger than those of Algo 2.

The ignoring problem and what is kept: as for `stubborn`.  Deviations from the paper, and the
proofs: `stateful.reference.stubborn`.
"""

from __future__ import annotations

from mazurka.stateful.families import persistent_strategy
from mazurka.stateful.variants import Relation

STRATEGY = persistent_strategy(
    "lock-patterns",
    "stubborn sets, with the locks that threads hold",
    Relation.LOCK_PATTERNS,
)
