"""CB(s, t): with how few preemptions a thread's step can come last.  Section 3.2 of paper 001.

    CB(s_I, t) = 0
    CB(s, t)   = min over t' in F(s) of CB(s - t', t') + (0 if t' = t or t' not in E(s), else 1)

To find it is NP-complete (Theorem 5).  It is computed by dynamic programming over the prefixes of
s, and kept by the hash of the state, so that all runs of a search share the work.  No state is
worked out twice.  They are prefixes of the present run; the program is never driven to them.

| paper | here |
|---|---|
| CB(s, t) | `Bounds.of(t)` |
| CB(s) | `Bounds.least` |
| the t' in F(s), s − t', CB(s − t', t') | `Bounds.arrivals` |
| E(s) | `Bounds.enabled` |

Deviation: a thread before an operation that `yields` counts as not enabled above, so to switch
away from it is free.  The theorems need of E(s), in the place where a preemption is counted, only
that it depends on s and t' alone.
"""

from __future__ import annotations

import time
from typing import NamedTuple, TypeAlias

from mazurka.stateless.actions import StateHash
from mazurka.stateless.happens_before import Graph

Arrival: TypeAlias = tuple[int, StateHash, int]
"""A thread t' whose step was last, the state before it, and CB of that step."""

CHECK_EVERY = 1024


class Exceeded(Exception):  # noqa: N818 - it is control flow, not an error of ours
    """A limit was reached in the midst of a computation; its argument names it."""


class Bounds(NamedTuple):
    """What is known of a state: who can go on, how it is reached, and at which cost."""

    enabled: int
    """E(s), one bit a thread."""
    others: int
    """CB(s, t) for a t whose step was not the last one in any order."""
    arrivals: tuple[Arrival, ...]

    def of(self, thread: int) -> int:
        """CB(s, t)."""
        for last, _, cost in self.arrivals:
            if last == thread and cost < self.others:
                return cost
        return self.others

    @property
    def least(self) -> int:
        """CB(s)."""
        return min((cost for _, _, cost in self.arrivals), default=0)

    def within(self, bound: int | None) -> int:
        """How many threads can take a step t with CB(s, t) at most the bound."""
        able = self.enabled
        if bound is None:
            return able.bit_count()
        if self.others <= bound:
            return able.bit_count()
        return sum(1 for last, _, cost in self.arrivals if cost <= bound and able >> last & 1)


class ContextBounds:
    """The bounds of all prefixes of the states that a search has come to."""

    def __init__(
        self, graph: Graph, max_states: int | None = None, deadline: float | None = None
    ) -> None:
        self.graph = graph
        self.known: dict[StateHash, Bounds] = {}
        self.max_states = max_states
        self.deadline = deadline

    def here(self) -> Bounds:
        """The bounds of the state at the graph's cursor, and of all its prefixes."""
        known = self.known.get(self.graph.hash)
        return self._work_out() if known is None else known

    def cheapest(self) -> tuple[tuple[int, ...], int]:
        """The schedule with the fewest preemptions that leads to the cursor, and their number."""
        graph, taken = self.graph, list[int]()
        least = self.here().least
        following = -1
        while arrivals := self.known[graph.hash].arrivals:
            _, stays = graph.enabled()
            costs = [
                (
                    cost + (following not in (last, -1) and stays >> last & 1),
                    last != following,
                    last,
                )
                for last, _, cost in arrivals
            ]
            following = min(costs)[2]
            taken.append(following)
            graph.back(following)
        for thread in reversed(taken):
            graph.forth(thread)
        return tuple(reversed(taken)), least

    def _work_out(self) -> Bounds:
        """Depth first over the prefixes that are not known; the cursor comes back at the end."""
        graph, known = self.graph, self.known
        path: list[int] = []
        try:
            frames: list[tuple[list[int], list[Arrival]]] = [(graph.frontier(), [])]
            while True:
                frontier, arrivals = frames[-1]
                unknown = self._arrive(frontier, arrivals)
                if unknown is not None:
                    graph.back(unknown)
                    path.append(unknown)
                    frames.append((graph.frontier(), []))
                    continue
                bounds = known[graph.hash] = self._bounds(arrivals)
                frames.pop()
                if not frames:
                    return bounds
                graph.forth(path.pop())
        finally:
            while path:
                graph.forth(path.pop())

    def _arrive(self, frontier: list[int], arrivals: list[Arrival]) -> int | None:
        """Complete the arrivals as far as predecessors are known; the first thread whose is not."""
        graph = self.graph
        while len(arrivals) < len(frontier):
            last = frontier[len(arrivals)]
            previous = graph.hash_before(last)
            bounds = self.known.get(previous)
            if bounds is None:
                return last
            arrivals.append((last, previous, bounds.of(last)))
        return None

    def _bounds(self, arrivals: list[Arrival]) -> Bounds:
        count = len(self.known)
        if count % CHECK_EVERY == 0:
            self._check(count)
        enabled, stays = self.graph.enabled()
        others = min((cost + (stays >> last & 1) for last, _, cost in arrivals), default=0)
        return Bounds(enabled, others, tuple(arrivals))

    def _check(self, count: int) -> None:
        if self.max_states is not None and count >= self.max_states:
            raise Exceeded(f"more than {self.max_states:,} states")
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise Exceeded("time")
