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

Deviation: to switch away from a thread before an operation that `yields` is free, and to let it go
on may cost a preemption (`stateless.preemptions`):

    CB(s, t)   = min over t' in F(s) of CB(s - t', t') + 1, for those t

Where early timeouts are left out, such a t is not in E(s), and CB(s, t) is infinite.  A prefix of a
state may then be one that no schedule leads to: `Bounds.arrivals` has only those t' in F(s) for
which t' is in E(s − t'), and a state without any, other than the first one, is `UNREACHED`.
"""

from __future__ import annotations

import time
from typing import TypeAlias

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import Exceeded

Arrival: TypeAlias = tuple[int, StateHash, int]
"""A thread t' whose step was last, the state before it, and CB of that step."""

CHECK_EVERY = 1024
NEVER = 1 << 30


class Bounds:
    """What is known of a state: who can go on, how it is reached, and at which cost."""

    __slots__ = ("arrivals", "enabled", "hasty", "others")

    def __init__(
        self, enabled: int, others: int, arrivals: tuple[Arrival, ...], hasty: int
    ) -> None:
        self.enabled = enabled
        """E(s), one bit a thread."""
        self.others = others
        """CB(s, t) for a t whose step was not the last one in any order."""
        self.arrivals = arrivals
        self.hasty = hasty
        """Those t in E(s) for which to go on is a preemption, whoever was last."""

    def of(self, thread: int) -> int:
        """CB(s, t)."""
        if self.hasty >> thread & 1:
            return self.least + 1
        for last, _, cost in self.arrivals:
            if last == thread and cost < self.others:
                return cost
        return self.others

    @property
    def least(self) -> int:
        """CB(s)."""
        return min((cost for _, _, cost in self.arrivals), default=0)

    def within(self, bound: int) -> int:
        """How many threads can take a step t with CB(s, t) at most the bound."""
        able, count = self.enabled, 0
        if self.hasty:
            able ^= self.hasty
            if self.least < bound:
                count = self.hasty.bit_count()
        if self.others <= bound:
            return count + able.bit_count()
        for last, _, cost in self.arrivals:
            if cost <= bound and able >> last & 1:
                count += 1
        return count


UNREACHED = Bounds(0, NEVER, (), 0)
"""Of a state to which no schedule leads without an early timeout.  Nobody goes on from there."""


class ContextBounds:
    """The bounds of all prefixes of the states that a search has come to."""

    def __init__(
        self, graph: Graph, max_states: int | None = None, deadline: float | None = None
    ) -> None:
        self.graph = graph
        self.known: dict[StateHash, Bounds] = {}
        self.unseen = 0
        """How many steps lead from known states to states that are not known."""
        self.max_states = max_states
        self.deadline = deadline

    def here(self) -> Bounds:
        """The bounds of the state at the graph's cursor, and of all its prefixes."""
        known = self.known.get(self.graph.hash)
        return self._work_out() if known is None else known

    def end_here(self) -> None:
        """Nobody goes on from the cursor: the program has given up."""
        state, bounds = self.graph.hash, self.here()
        self.unseen -= bounds.enabled.bit_count()
        self.known[state] = Bounds(0, bounds.others, bounds.arrivals, 0)

    def forget(self) -> None:
        self.known.clear()
        self.unseen = 0

    def find_cheapest(self) -> tuple[tuple[int, ...], int]:
        """The schedule with the fewest preemptions that leads to the cursor, and their number."""
        graph, taken = self.graph, list[int]()
        least = self.here().least
        following = -1
        while arrivals := self.known[graph.hash].arrivals:
            _, stays, _ = graph.enabled()
            early = following >= 0 and self.known[graph.hash].hasty >> following & 1
            costs = [
                (
                    cost + (early or (following not in (last, -1) and stays >> last & 1)),
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
        """Depth first over the prefixes that are not known."""
        graph, known = self.graph, self.known
        maximal, hash_of = graph.maximal, graph.hash_of
        frames = [(graph.here, graph.hash, maximal(graph.here))]
        while frames:
            here, state, frontier = frames[-1]
            for event in frontier:
                previous = state ^ hash_of[event]
                if previous not in known:
                    rest = here ^ 1 << event
                    frames.append((rest, previous, maximal(rest)))
                    break
            else:
                self._add(here, state, frontier)
                frames.pop()
        return known[graph.hash]

    def _add(self, here: int, state: StateHash, frontier: list[int]) -> None:
        """Work out the bounds of a prefix from those of its own."""
        graph, known = self.graph, self.known
        if len(known) % CHECK_EVERY == 0:
            self._check(len(known))
        schedule, hash_of = graph.schedule, graph.hash_of
        able, stays, hasty = graph.able(here)
        if not graph.early_timeouts and frontier:
            frontier = [
                event
                for event in frontier
                if known[state ^ hash_of[event]].enabled >> schedule[event] & 1
            ]
            if not frontier:
                known[state] = UNREACHED
                return
        others = NEVER if frontier else 0
        arrivals = []
        for event in frontier:
            last = schedule[event]
            previous = state ^ hash_of[event]
            cost = known[previous].of(last)
            arrivals.append((last, previous, cost))
            cost += stays >> last & 1
            if cost < others:
                others = cost
        self.unseen += able.bit_count() - len(arrivals)
        known[state] = Bounds(able, others, tuple(arrivals), hasty)

    def _check(self, count: int) -> None:
        if self.max_states is not None and count >= self.max_states:
            raise Exceeded(f"more than {self.max_states:,} states")
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise Exceeded("time")
