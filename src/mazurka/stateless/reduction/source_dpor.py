"""Dynamic partial-order reduction with source sets.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
1. Instead of a persistent set it is enough to explore a **source set** from each node: a set of
threads such that each execution from there could begin with one of them.  Sleep sets take care of
the rest.

Theorem 4.6 there: of each Mazurkiewicz trace exactly one execution is completed.  Others may be
given up in the middle, everything asleep.

| paper | here |
|---|---|
| E, pre(E, e) | `trace`, `nodes[position]` |
| backtrack(E), Sleep | `Node.backtrack`, `Node.sleep` |
| e ≾ e', v = notdep(e, E).p | `races.find_reversals`, `Reversal.sequence` |
| I(v) | `races.initials` |

Deviations: threads may disable each other, and what a step touches may depend on the state
(`races.py` says how); races are looked for at the end of each run, given up or not, with all that
happened in it, rather than before each step; all choices of a thread are explored together,
or sleep.
"""

from __future__ import annotations

from mazurka.stateless.reduction.dpor import SleepingReduction
from mazurka.stateless.reduction.sleep_sets import SleepingNode


class SourceSets(SleepingReduction):
    """Source sets and sleep sets."""

    name = "source-dpor"

    def add_initial(self, node: SleepingNode, threads: list[int]) -> None:
        """As with persistent sets, unless one of the threads is explored already."""
        if node.backtrack.isdisjoint(threads):
            super().add_initial(node, threads)
