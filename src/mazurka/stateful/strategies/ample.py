"""Ample sets by location, as SPIN has them: the plainest reduction, to compare the others with.

Holzmann, Peled, *An Improvement in Formal Verification* (FORTE 1994).  A thread is explored alone
where its step, whatever the state, has nothing in common with any code of another thread; if there
is no such thread, all are explored.  Which locations are of this kind is known beforehand.

The ignoring problem and what is kept: as for `stubborn`.  The argument, and what differs from the
original (which keeps more properties, by a stronger proviso): `stateful.reference.stubborn`.
"""

from __future__ import annotations

from mazurka.stateful.families import persistent_strategy
from mazurka.stateful.variants import Relation

STRATEGY = persistent_strategy(
    "ample", "threads alone while they touch nothing that is shared", Relation.AMPLE
)
