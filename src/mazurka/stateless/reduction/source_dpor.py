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
happened in it, rather than before each step; all choices of a thread are explored together.
"""

from __future__ import annotations

from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.races import find_reversals, initials
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch


class SourceSets(ScheduleSearch):
    """Source sets and sleep sets."""

    name = "source-dpor"

    def choose(self, position: int) -> Action | None:
        node = self.nodes[position]
        awake = node.awake()
        if awake and not node.backtrack:
            node.backtrack.add(awake[0].thread)
        return next((action for action in awake if action.thread in node.backtrack), None)

    def look_back(self) -> None:
        for reversal in find_reversals(self.trace, self.nodes[-1], self.foresight, self.replayed):
            self.pulse()
            node = self.nodes[reversal.position]
            first = initials(reversal.sequence)
            if node.backtrack.isdisjoint(first):
                node.backtrack.add(first[0])
