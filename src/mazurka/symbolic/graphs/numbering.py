"""The part of a graph on which some literals depend, numbered anew: leaves first, then the rest.

AIGER files and the process that builds decision diagrams want circuits like that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig


class Numbering:
    """Numbers the nodes on which literals depend: given leaves from 1 on, then the conjunctions,
    each behind its operands."""

    def __init__(self, graph: Aig, leaves: Sequence[int], roots: Sequence[int]) -> None:
        marks = graph.mark_cone([root for root in roots if root > TRUE] or [FALSE])
        self.fanins = graph.fanins
        marked = marks[: len(self.fanins)] != 0
        marked[0] = False
        self.kept = np.flatnonzero(marked & (self.fanins[:, 0] >= 0))
        self.numbers = np.full(len(self.fanins), -1, np.int64)
        self.numbers[0] = 0
        first = 1 + len(leaves)
        self.numbers[np.array(leaves, np.int64) >> 1] = np.arange(1, first)
        self.numbers[self.kept] = np.arange(first, first + len(self.kept))
        assert not (marked & (self.numbers < 0)).any(), "every leaf is among those given"

    def literal(self, literal: int) -> int:
        return 2 * int(self.numbers[literal >> 1]) | literal & 1

    def conjunctions(self) -> tuple[tuple[int, int], ...]:
        """The operands of each conjunction, the larger one first."""
        operands = self.fanins[self.kept].astype(np.int64)
        named = 2 * self.numbers[operands >> 1] | operands & 1
        named.sort(axis=1)
        return tuple(zip(named[:, 1].tolist(), named[:, 0].tolist(), strict=True))
