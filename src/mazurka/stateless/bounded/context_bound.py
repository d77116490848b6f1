"""CB(s, t): with how few preemptions a thread's step can come last.  Section 3.2 of paper 001.

    CB(s_I, t) = 0
    CB(s, t)   = min over t' in F(s) of CB(s - t', t') + (0 if t' = t or t' not in E(s), else 1)

To find it is NP-complete (Theorem 5).  It is computed by dynamic programming over the prefixes of
s, and kept by the hash of the state, so that all runs of a search share the work.  No state is
worked out twice.  They are prefixes of the present run; the program is never driven to them.

| paper | here |
|---|---|
| CB(s, t) | `cost_of` |
| CB(s) | `least_cost` |
| the t' in F(s), s − t', CB(s − t', t') | `arrivals` |
| E(s) | `Bounds`, first number |

Deviation: to switch away from a thread before an operation that `yields` is free, and to let it go
on may cost a preemption (`stateless.preemptions`):

    CB(s, t)   = min over t' in F(s) of CB(s - t', t') + 1, for those t

Where early timeouts are left out, such a t is not in E(s), and CB(s, t) is infinite.  A prefix of a
state may then be one that no schedule leads to: `arrivals` has only those t' in F(s) for which t'
is in E(s − t'), and a state without any, other than the first one, is `UNREACHED`.

There may be millions of states, so each is a tuple of numbers: it takes little memory, and the
garbage collector never looks at it twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import Exceeded

Bounds: TypeAlias = tuple[int, ...]
"""What is known of a state: who can go on, how it is reached, and at which cost.

1. E(s), one bit a thread;
2. CB(s, t) of all threads, `WIDTH` bits each, after that of a t whose step was not the last one in
   any order;
3. those t in E(s) for which to go on is a preemption, whoever was last;
4. three numbers for each t' in F(s): t', the hash of s − t', and CB(s − t', t').
"""
Arrival: TypeAlias = tuple[int, StateHash, int]
"""A thread t' whose step was last, the state before it, and CB of that step."""

Prefix: TypeAlias = tuple[int, StateHash, Sequence[int]]
"""A prefix to be worked out: its events, the hash of the state, and the events of F(s)."""

CHECK_EVERY = 1024
WIDTH = 16
NEVER = (1 << WIDTH) - 1
MOST = NEVER - 1
"""Costs above this one are not told apart: whoever allows so many preemptions allows more."""
FIRST, FIRST_COST, EACH = 3, 5, 3
"""Where the arrivals begin, where the cost of the first one is, and how many numbers each has."""


def arrivals(bounds: Bounds) -> Iterator[Arrival]:
    """Return the t' in F(s), each with s − t' and CB(s − t', t')."""
    return zip(bounds[3::3], bounds[4::3], bounds[5::3], strict=True)


def count_arrivals(bounds: Bounds) -> int:
    """How many t' there are in F(s)."""
    return len(bounds) // EACH - 1


def least_cost(bounds: Bounds) -> int:
    """CB(s)."""
    return min(bounds[5::3], default=0)


def cost_of(bounds: Bounds, thread: int) -> int:
    """CB(s, t)."""
    return bounds[1] >> (thread + 1) * WIDTH & NEVER


def count_within(bounds: Bounds, bound: int) -> int:
    """How many threads can take a step t with CB(s, t) at most the bound."""
    able, hasty, count = bounds[0], bounds[2], 0
    if hasty:
        able ^= hasty
        if least_cost(bounds) < bound:
            count = hasty.bit_count()
    if bounds[1] & NEVER <= bound:
        return count + able.bit_count()
    for place in range(FIRST, len(bounds), EACH):
        if bounds[place + 2] <= bound and able >> bounds[place] & 1:
            count += 1
    return count


def _pack(found: Sequence[int], others: int, ones: int) -> int:
    """CB(s, t) of all threads, from the arrivals of a state, and `others`, that of a t whose step
    was not the last one in any order.  `ones` has a one in the place of each."""
    costs = others * ones
    for place in range(FIRST, len(found), EACH):
        if (cost := found[place + 2]) < others:
            costs -= others - cost << (found[place] + 1) * WIDTH
    return costs


UNREACHED: Bounds = (0, NEVER, 0)
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
        enabled, costs, _, *rest = self.here()
        self.unseen -= enabled.bit_count()
        self.known[self.graph.hash] = (0, costs, 0, *rest)

    def forget(self) -> None:
        self.known.clear()
        self.unseen = 0

    def find_cheapest(self) -> tuple[tuple[int, ...], int]:
        """The schedule with the fewest preemptions that leads to the cursor, and their number."""
        graph, taken = self.graph, list[int]()
        least = least_cost(self.here())
        following = -1
        while count_arrivals(bounds := self.known[graph.hash]):
            _, stays, _ = graph.enabled()
            early = following >= 0 and bounds[2] >> following & 1
            costs = [
                (
                    cost + (early or (following not in (last, -1) and stays >> last & 1)),
                    last != following,
                    last,
                )
                for last, _, cost in arrivals(bounds)
            ]
            following = min(costs)[2]
            taken.append(following)
            graph.back(following)
        for thread in reversed(taken):
            graph.forth(thread)
        return tuple(reversed(taken)), least

    def _work_out(self) -> Bounds:
        """Collect the prefixes that are not known, the larger ones first, and work them out from
        below."""
        graph, known = self.graph, self.known
        hash_of, covers, past = graph.hash_of, graph.covers, graph.past
        unknown: list[Prefix] = [(graph.here, graph.hash, graph.maximal(graph.here))]
        found: set[StateHash] = set()
        for here, state, frontier in unknown:  # it grows meanwhile
            for event in frontier:
                previous = state ^ hash_of[event]
                if previous in found or previous in known:
                    continue
                found.add(previous)
                rest = covers[event] or graph.cover(event)
                if len(frontier) > 1:
                    others, covered = [], 0
                    for other in frontier:
                        if other != event:
                            others.append(other)
                            covered |= past[other]
                    for earlier in rest:
                        if not covered >> earlier & 1:
                            others.append(earlier)
                    rest = others
                unknown.append((here ^ 1 << event, previous, rest))
        unknown.reverse()
        begin = 0
        while begin < len(unknown):
            count = len(known)
            if count % CHECK_EVERY == 0:
                self._check(count)
            end = begin + CHECK_EVERY - count % CHECK_EVERY
            self._add(unknown[begin:end])
            begin = end
        return known[graph.hash]

    def _add(self, prefixes: Sequence[Prefix]) -> None:
        """Work out the bounds of prefixes from those of their own, which are known or come first.

        Where nobody gives way this is done here; it is asked of every state.
        """
        graph, known = self.graph, self.known
        schedule, hash_of, able_after = graph.schedule, graph.hash_of, graph.able_after
        ones = ((1 << (len(graph.lines) + 1) * WIDTH) - 1) // NEVER
        unseen = 0
        for here, state, frontier in prefixes:
            if not frontier or graph.any_yields:
                self._add_slowly(here, state, frontier, ones)
                continue
            event = frontier[0]
            previous = state ^ hash_of[event]
            before = known[previous]
            able = able_after(event, before[0], here)
            last = schedule[event]
            place = (last + 1) * WIDTH
            cost = before[1] >> place & NEVER
            others = cost + (able >> last & 1)
            if len(frontier) == 1:
                if others > MOST:
                    others = MOST
                costs = others * ones
                if cost < others:
                    costs -= others - cost << place
                known[state] = (able, costs, 0, last, previous, cost)
                unseen += able.bit_count() - 1
                continue
            found = [able, 0, 0, last, previous, cost]
            for event in frontier[1:]:
                last = schedule[event]
                previous = state ^ hash_of[event]
                cost = known[previous][1] >> (last + 1) * WIDTH & NEVER
                found += (last, previous, cost)
                cost += able >> last & 1
                if cost < others:
                    others = cost
            found[1] = _pack(found, others if others < MOST else MOST, ones)
            known[state] = tuple(found)
            unseen += able.bit_count() - len(frontier)
        self.unseen += unseen

    def _add_slowly(self, here: int, state: StateHash, frontier: Sequence[int], ones: int) -> None:
        """Work out the bounds of a prefix in which threads may give way."""
        graph, known = self.graph, self.known
        able, stays, hasty = graph.able(here)
        if not graph.early_timeouts:
            frontier = self._reached(state, frontier)
            if here and not frontier:
                known[state] = UNREACHED
                return
        others = MOST if frontier else 0
        found = [able, 0, hasty]
        for event in frontier:
            last = graph.schedule[event]
            previous = state ^ graph.hash_of[event]
            cost = cost_of(known[previous], last)
            found += (last, previous, cost)
            others = min(others, cost + (stays >> last & 1))
        costs = _pack(found, others, ones)
        if hasty:
            costs = self._raise_hasty(costs, hasty, min(found[5::3], default=0) + 1)
        found[1] = costs
        self.unseen += able.bit_count() - len(frontier)
        known[state] = tuple(found)

    def _reached(self, state: StateHash, frontier: Sequence[int]) -> list[int]:
        """The events of those t' in F(s) for which t' is in E(s − t')."""
        known, graph = self.known, self.graph
        return [
            event
            for event in frontier
            if known[state ^ graph.hash_of[event]][0] >> graph.schedule[event] & 1
        ]

    def _raise_hasty(self, costs: int, hasty: int, cost: int) -> int:
        """Set CB(s, t) of those threads for which to go on is a preemption."""
        while hasty:
            thread = hasty.bit_length() - 1
            hasty ^= 1 << thread
            place = (thread + 1) * WIDTH
            costs += cost - (costs >> place & NEVER) << place
        return costs

    def _check(self, count: int) -> None:
        if self.max_states is not None and count >= self.max_states:
            raise Exceeded(f"more than {self.max_states:,} states")
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise Exceeded("time")
