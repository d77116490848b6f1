"""Optimistic coarsening: paper 002's reduced system v·u*·d, its classification checked on the way.

Stoller and Cohen, *Optimistic Synchronization-Based State-Space Reduction* (TACAS 2003).

| paper | here |
|---|---|
| u, invisible | both-movers: local steps, accesses to unshared and protected cells |
| v, visible | all other steps, among them those that change an exclusive access predicate |
| v·u*·d | a step, then the inner loop `run_through` of `stateful.kernels.transactions` |
| classification C, lockset algorithm | `mazurka.analysis.discipline` |
| valid for S iff valid for R_C(S) | a round that breaks the classification is searched anew |

The paper assumes that no thread runs on invisibly for ever.  Programs do, so commit point
completion (paper 000) takes care of it: the state behind a visible step is a commit point, and if
no run of invisible steps from there comes to an end, all threads are scheduled there.

States between invisible steps are not stored, except where a loop begins: that is where the memory
is saved.  Acquire and release are visible, so deadlocks and races are kept as well as assertions.
"""

from __future__ import annotations

from mazurka.analysis.laws import MoverUse
from mazurka.stateful.families import transaction_strategy
from mazurka.stateful.variants import Completion

STRATEGY = transaction_strategy(
    "optimistic",
    "invisible steps in one go; classes of variables inferred",
    Completion.COMMIT_POINTS,
    mover_use=MoverUse.INVISIBLE,
    inner_loop=True,
)
