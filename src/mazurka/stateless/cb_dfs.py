"""Context-bounded depth-first search, *cb-dfs* in paper 001: every schedule within the bound.

The baseline.  It prunes a step if the schedule would have more preemptions than the bound allows,
and nothing else; so it needs no graphs, and runs equivalent schedules again and again.
"""

from __future__ import annotations

from mazurka.stateless.bounded_search import NOBODY, BoundedSearch, Node


class ContextBoundedDFS(BoundedSearch):
    name = "cb-dfs"

    def choose(self, node: Node) -> int:
        return self.candidate(node)

    def candidate(self, node: Node) -> int:
        while node.tried < len(node.order):
            thread = node.order[node.tried]
            node.tried += 1
            if self.bound is None or node.cost(thread) <= self.bound:
                return thread
            self.cut = True
        return NOBODY
