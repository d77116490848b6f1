"""Stubborn sets: from each state only threads with which nothing that the others do interferes.

Kahlon, Gupta, Sinha (CAV 2006), Algo 2: conditional stubborn sets with the static relation *might
be the first to interfere*.  What a thread does now is known exactly, from its footprint in the
state; what the others may do later comes from their code (`mazurka.analysis.futures`).  Theorem 1:
the steps explored are a persistent set.

The ignoring problem: `--proviso stack` passes over sets whose steps all lead back to the stack of
the search, and explores all threads where there is no other; `--proviso sticky` explores all
wherever a thread leaves the head of a loop.

Keeps assertions and all other faults, deadlocks, hangs and races.  Deviations from the paper, and
the proofs: `stateful.reference.stubborn`.
"""

from __future__ import annotations

from mazurka.stateful.families import persistent_strategy
from mazurka.stateful.variants import Relation

STRATEGY = persistent_strategy(
    "stubborn", "stubborn sets: threads that others leave alone", Relation.STATIC
)
