"""Algorithm 1 of paper 001: every state within the bound, each once.

    3  Search(state s)
    4    H = H ∪ {s}
    5    for t in E(s)
    6      if not (next(s, t) in H or CB(s, t) > csb)
    7        Search(next(s, t))

H holds happens-before graphs, prefixes of executions and not only whole ones, by their hashes.
Theorem 2: at the end H is the set of states s with CB(s) ≤ csb.  A run ends early where all
successors have been visited; whole executions are completed once each.

| paper | here |
|---|---|
| H | `closed` |
| csb | `bound` |
| Search, going down | `choose` |
| Search, the next t of line 5 | `choose_again` |
"""

from __future__ import annotations

from mazurka.stateless.bounded.bounded_search import BoundedNode
from mazurka.stateless.bounded.graph_search import GraphSearch
from mazurka.stateless.bounded.hashing import EMPTY, StateHash
from mazurka.stateless.explored import Exceeded


class Algorithm1(GraphSearch):
    name = "algorithm-1"

    def restart(self) -> bool:
        self.closed = {EMPTY}
        self.terminals.clear()
        self.pruned: set[StateHash] = set()
        """Successors that the bound kept the search from, at least once."""
        return super().restart()

    def choose(self, node: BoundedNode) -> int:
        return self.choose_again(node)

    def choose_again(self, node: BoundedNode) -> int:
        thread = self.find(node)  # L5, L6
        if thread >= 0:
            self.visit(self.graph.hash ^ self._action)  # L7, L4
            node.tried += 1
        return thread

    def visit(self, state: StateHash) -> None:
        limit = self.options.max_states
        if limit is not None and len(self.closed) >= limit:
            raise Exceeded(f"more than {limit:,} states")
        self.closed.add(state)

    def is_within(self, node: BoundedNode, thread: int, bound: int) -> bool:
        within = super().is_within(node, thread, bound)
        if not within:
            following = self.graph.next_hash(thread)
            assert following is not None
            self.pruned.add(following)
        return within

    def is_exhaustive(self) -> bool:
        return self.pruned <= self.closed

    @property
    def states(self) -> int:
        return len(self.closed)
