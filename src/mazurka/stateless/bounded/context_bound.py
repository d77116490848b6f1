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
is in E(s − t'), and a state without any, other than the first one, is not reached: E(s) is empty.

There may be millions of states, so each is a tuple of numbers: it takes little memory, and the
garbage collector never looks at it twice.  Once there are thousands, the same is done in native
code on flat arrays (`hasten`, `mazurka.stateless.bounded.native_bounds`); what is here stays the
reference for it, and the way where threads give way.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import TIME, Allowance, Exceeded

if TYPE_CHECKING:
    from mazurka.stateless.bounded.native_bounds import NativeBounds

Bounds: TypeAlias = tuple[int, ...]
"""What is known of a state: who can go on, how it is reached, and at which cost.

1. E(s), one bit a thread;
2. those t in E(s) for which to go on is a preemption, whoever was last;
3. CB(s, t) of a t whose step was not the last one in any order, and which is none of those;
4. where the next ones end;
5. three numbers for each t' in F(s): t', the hash of s − t', and CB(s − t', t');
6. CB(s, t) of all threads, that of thread 0 at the end.
"""
Arrival: TypeAlias = tuple[int, StateHash, int]
"""A thread t' whose step was last, the state before it, and CB of that step."""

Prefix: TypeAlias = tuple[int, StateHash, Sequence[int]]
"""A prefix to be worked out: its events, the hash of the state, and the events of F(s)."""

CHECK_EVERY = 1024
AT_HAND = 256
"""With how many states native code is worth it where it has been started before."""
NEVER = 1 << 60
"""More than anybody allows."""
FIRST, FIRST_COST, EACH = 4, 6, 3
"""Where the arrivals begin, where the cost of the first one is, and how many numbers each has."""


def arrivals(bounds: Bounds) -> Iterator[Arrival]:
    """Return the t' in F(s), each with s − t' and CB(s − t', t')."""
    end = bounds[3]
    return zip(bounds[4:end:EACH], bounds[5:end:EACH], bounds[6:end:EACH], strict=True)


def count_arrivals(bounds: Bounds) -> int:
    """How many t' there are in F(s)."""
    return (bounds[3] - FIRST) // EACH


def least_cost(bounds: Bounds) -> int:
    """CB(s)."""
    return min(bounds[FIRST_COST : bounds[3] : EACH], default=0)


def cost_of(bounds: Bounds, thread: int) -> int:
    """CB(s, t)."""
    return bounds[~thread]


def count_within(bounds: Bounds, bound: int) -> int:
    """How many threads can take a step t with CB(s, t) at most the bound."""
    able, hasty, count = bounds[0], bounds[1], 0
    if hasty:
        able ^= hasty
        if least_cost(bounds) < bound:
            count = hasty.bit_count()
    if bounds[2] <= bound:
        return count + able.bit_count()
    for place in range(FIRST_COST, bounds[3], EACH):
        if bounds[place] <= bound and able >> bounds[place - 2] & 1:
            count += 1
    return count


class ContextBounds:
    """The bounds of all prefixes of the states that a search has come to."""

    usual_native_from: ClassVar[int] = 4096
    """With how many states native code is worth its start."""

    def __init__(
        self, graph: Graph, max_states: int | None = None, deadline: float | None = None
    ) -> None:
        self.graph = graph
        self.known: dict[StateHash, Bounds] = {}
        """What has been worked out here; nothing while native code does that."""
        self.native: NativeBounds | None = None
        self.native_from = self.usual_native_from
        self._unseen = 0
        self._left_open: dict[StateHash, int] = {}
        self.max_states = max_states
        self.deadline = deadline
        self.allowance: Allowance | None = None
        """When the search ends that nobody has given a limit."""

    @property
    def unseen(self) -> int:
        """How many steps lead from known states to states that are not known."""
        return self._unseen if self.native is None else self.native.unseen

    def here(self) -> Bounds:
        """The bounds of the state at the graph's cursor, and of all its prefixes."""
        if (native := self.find_native()) is not None:
            return native.read(native.here())
        known = self.known.get(self.graph.hash)
        return self._work_out() if known is None else known

    def cost_here(self, thread: int) -> int:
        """CB(s, t) of the state at the graph's cursor."""
        if (native := self.find_native()) is not None:
            return native.cost_of(native.here(), thread)
        return cost_of(self.here(), thread)

    def end_here(self) -> None:
        """Nobody goes on from the cursor: the program has given up."""
        if (native := self.find_native()) is not None:
            native.end(native.here())
            return
        enabled, _, *rest = self.here()
        self._unseen -= enabled.bit_count()
        self.known[self.graph.hash] = (0, 0, *rest)

    def forget(self) -> None:
        self.known.clear()
        self.native = None
        self._unseen = 0

    # ---- native code

    def hasten(self, closed: Collection[StateHash], left_open: dict[StateHash, int]) -> None:
        """Go on in native code from now on, if that is worth it and can be had.

        Not to be called during a run, since it may import modules.  States that are closed are
        handed over, and how many steps are left of the others (`Algorithm2`).
        """
        if self.native is not None or len(self.known) < self.native_from:
            return
        from mazurka.stateless.bounded.native_bounds import begin_native

        self.native = begin_native(self.graph, self._check, CHECK_EVERY, len(self.known))
        if self.native is None:
            self.native_from = 2 * len(self.known)
            return
        ContextBounds.usual_native_from = min(self.usual_native_from, AT_HAND)
        self.native.take_over(self.known, self._unseen, closed, left_open)
        self.known.clear()
        left_open.clear()
        self._left_open = left_open

    def begin_level(self, left_open: dict[StateHash, int]) -> None:
        """Forget which states are closed; from now on, where Python has to go on, it is told here
        how many steps are left of the others."""
        self._left_open = left_open
        if self.native is not None:
            self.native.begin_level()

    def find_native(self) -> NativeBounds | None:
        """Return the native code, if the present run can be worked on there; otherwise take
        everything back from it."""
        native = self.native
        if native is not None and not native.fits():
            self.native = None
            self.native_from = NEVER
            self._unseen = native.unseen
            self.known, left_open = native.give_back()
            self._left_open.update(left_open)
            return None
        return native

    def get(self, state: StateHash) -> Bounds:
        """What is known of a state."""
        if self.native is not None:
            return self.native.read(self.native.find(state))
        return self.known[state]

    def find_cheapest(self) -> tuple[tuple[int, ...], int]:
        """The schedule with the fewest preemptions that leads to the cursor, and their number."""
        graph, taken = self.graph, list[int]()
        least = least_cost(self.here())
        following = -1
        while count_arrivals(bounds := self.get(graph.hash)):
            _, stays, _ = graph.enabled()
            early = following >= 0 and bounds[1] >> following & 1
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
        threads = len(graph.lines)
        unseen = 0
        for here, state, frontier in prefixes:
            if not frontier or graph.any_yields:
                self._add_slowly(here, state, frontier)
                continue
            event = frontier[0]
            previous = state ^ hash_of[event]
            before = known[previous]
            able = able_after(event, before[0], here)
            last = schedule[event]
            cost = before[~last]
            others = cost + (able >> last & 1)
            found = [able, 0, 0, 0, last, previous, cost]
            if len(frontier) > 1:
                for event in frontier[1:]:
                    last = schedule[event]
                    previous = state ^ hash_of[event]
                    cost = known[previous][~last]
                    found += (last, previous, cost)
                    cost += able >> last & 1
                    if cost < others:
                        others = cost
            found[2], found[3] = others, len(found)
            costs = [others] * threads
            for place in range(FIRST_COST, len(found), EACH):
                if (cost := found[place]) < others:
                    costs[~found[place - 2]] = cost
            known[state] = tuple(found + costs)
            unseen += able.bit_count() - len(frontier)
        self._unseen += unseen

    def _add_slowly(self, here: int, state: StateHash, frontier: Sequence[int]) -> None:
        """Work out the bounds of a prefix in which threads may give way."""
        graph, known = self.graph, self.known
        threads = len(graph.lines)
        able, stays, hasty = graph.able(here)
        if not graph.early_timeouts:
            frontier = self._reached(state, frontier)
            if here and not frontier:
                known[state] = (0, 0, NEVER, FIRST, *[NEVER] * threads)
                return
        others = NEVER if frontier else 0
        found = list[int]()
        for event in frontier:
            last = graph.schedule[event]
            previous = state ^ graph.hash_of[event]
            cost = cost_of(known[previous], last)
            found += (last, previous, cost)
            others = min(others, cost + (stays >> last & 1))
        costs = [others] * threads
        for last, cost in zip(found[0::EACH], found[2::EACH], strict=True):
            costs[~last] = min(cost, others)
        if hasty:
            self._raise_hasty(costs, hasty, min(found[2::EACH], default=0) + 1)
        known[state] = (able, hasty, others, FIRST + len(found), *found, *costs)
        self._unseen += able.bit_count() - len(frontier)

    def _reached(self, state: StateHash, frontier: Sequence[int]) -> list[int]:
        """The events of those t' in F(s) for which t' is in E(s − t')."""
        known, graph = self.known, self.graph
        return [
            event
            for event in frontier
            if known[state ^ graph.hash_of[event]][0] >> graph.schedule[event] & 1
        ]

    def _raise_hasty(self, costs: list[int], hasty: int, cost: int) -> None:
        """Set CB(s, t) of those threads for which to go on is a preemption."""
        for thread in range(hasty.bit_length()):
            if hasty >> thread & 1:
                costs[~thread] = cost

    def _check(self, count: int) -> None:
        if self.max_states is not None and count >= self.max_states:
            raise Exceeded(f"more than {self.max_states:,} states")
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise Exceeded(TIME)
        exceeded = None if self.allowance is None else self.allowance.find_exceeded()
        if exceeded is not None:
            raise Exceeded(exceeded)
