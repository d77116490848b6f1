"""Algorithm 2 of paper 001: every terminal state within the bound, each once, and no run in vain.

     3  Search(state s)
     4    if succ(s) = ∅
     5      Mark(s)
     8    else for t in E(s)
     9      if not (next(s, t) in H or CB(s, t) > csb)
    10        Search(next(s, t))
    15  Mark(state s)
    16    H = H ∪ {s}
    17    for x with next(x, t) = s and CB(x, t) ≤ csb for some t
    18      if for all t' in E(x): next(x, t') in H or CB(x, t') > csb
    19        Mark(x)

H holds the states from which no terminal state within the bound can be reached that has not been
visited (*Inv* in the paper).  Theorem 3: the terminal states reached are those with CB(s) ≤ csb.
Theorem 4: the search is never blocked; where it stands at a state that is not in H, some successor
within the bound is not in H either.  That is asserted.

| paper | here |
|---|---|
| H | `closed` |
| csb | `bound` |
| Search | `choose`, `choose_again`; `force` where E(s) has one thread, which needs no node |
| Mark | `mark` on what is known of states, `mark_along` on the present run |
| the test of L18 | `open`: how many t' are left for which it does not hold yet |

L18 is a count: an edge x → s is looked at once, when s is marked, so x is closed when the last of
its steps within the bound has been looked at.  The order in which states are marked has no effect.

Two ways to the same H.  With a bound, CB makes everything known about all prefixes of a terminal
state (`context_bound.Bounds`), and `mark` needs nothing else; so when the bound is raised, H is
made anew from the terminal states that have been visited, none of which is run again.  Without a
bound CB is not needed, and `mark_along` takes the prefixes from the graph, unless early timeouts
are left out: then some prefixes are not reached by any schedule, and CB tells which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mazurka.errors import InternalError
from mazurka.stateless.bounded.bounded_search import BoundedNode
from mazurka.stateless.bounded.context_bound import EACH, FIRST_COST, NEVER, count_within
from mazurka.stateless.bounded.graph_search import GraphSearch
from mazurka.stateless.bounded.hashing import EMPTY, StateHash
from mazurka.stateless.explored import Exceeded, Progress, RunOptions
from mazurka.stateless.runs import Ended, Runnable
from mazurka.stateless.search import NOBODY

THEOREM_4 = "Theorem 4: a state that is not in H has a successor that is not"


class Algorithm2(GraphSearch):
    name = "algorithm-2"

    def __init__(
        self, program: Runnable, options: RunOptions | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(program, options, progress)
        self.open: dict[StateHash, int] = {}
        self.highest = -1.0
        """The bound of the level that the terminal states come from."""
        self.without_bounds = False

    def restart(self) -> bool:
        skipped = self.explored.skipped
        super().restart()
        self.closed, self.open = set(), {}
        self.bounds.begin_level(self.open)
        bound = math.inf if self.bound is None else self.bound
        if self.without_bounds or bound < self.highest:
            self.terminals.clear()
            self.bounds.forget()
        self.without_bounds = self.needs_no_bounds()
        self.highest = bound
        self.mark(self.terminals)
        self.explored.executions = len(self.terminals)
        if self.terminals:
            self.explored.skipped = skipped
        return EMPTY not in self.closed

    def needs_no_bounds(self) -> bool:
        """Whether H can be made from the graph alone: everything that can go on is in E(s)."""
        return self.bound is None and not self.terminals and self.options.early_timeouts

    def choose(self, node: BoundedNode) -> int:
        node.state = self.graph.hash
        if self.without_bounds:
            self.open.setdefault(node.state, len(node.order))
        thread = self.find(node)  # L8, L9
        if thread == NOBODY:
            raise InternalError(THEOREM_4)
        return thread

    def force(self, thread: int) -> bool:
        """Where one thread alone can go on, CB(s, t) = CB(s), and by Theorem 4 it has to.  One that
        gives way needs a node, in which that is noted."""
        graph = self.graph
        stand = graph.stands[thread][-1]
        touched = stand.fixed or graph.touches_here(thread)
        if touched is None or stand.yields is not False:
            return False
        if self.without_bounds:
            self.open.setdefault(graph.hash, 1)
        graph.take(thread, touched)
        if graph.hash in self.closed:
            raise InternalError(THEOREM_4)
        return True

    def choose_again(self, node: BoundedNode) -> int:
        """By Theorem 4 a state has a successor to search if it is not in H."""
        return NOBODY if node.state in self.closed else self.choose(node)

    def back_up(self) -> bool:
        nodes, closed = self.nodes, self.closed
        while nodes and nodes[-1].state in closed:
            nodes.pop()
        return super().back_up()

    def note_end(self, end: Ended) -> None:
        super().note_end(end)
        state = self.graph.hash
        if state in self.closed:
            raise InternalError("a terminal state is reached a second time")
        limit = self.options.max_states
        if self.without_bounds:
            self.mark_along()  # L5
            if limit is not None and len(self.closed) > limit:
                raise Exceeded(f"more than {limit:,} states")
            return
        self.bounds.hasten(self.closed, self.open)
        native = self.bounds.find_native()
        if native is not None and not end.abandoned:
            self.closed.update(native.finish(NEVER if self.bound is None else self.bound))
            return
        self.bounds.here()
        if end.abandoned:
            self.bounds.end_here()
        self.mark([state])  # L5

    def mark(self, states: Sequence[StateHash]) -> None:
        """Mark terminal states, and whatever is closed by that, from what is known of them."""
        known, bound = self.bounds.known, NEVER if self.bound is None else self.bound
        if self.bounds.native is not None:
            self.closed.update(self.bounds.native.mark(states, bound))
            return
        closed, left_open = self.closed, self.open
        waiting = list(states)
        while waiting:
            state = waiting.pop()
            closed.add(state)  # L16
            arrivals = known[state]
            for place in range(FIRST_COST, arrivals[3], EACH):  # L17
                if arrivals[place] > bound:
                    continue
                previous = arrivals[place - 1]
                left = left_open.pop(previous, 0) or count_within(known[previous], bound)
                if left > 1:  # L18
                    left_open[previous] = left - 1
                else:
                    waiting.append(previous)  # L19

    def mark_along(self) -> None:
        """Mark the state where the present run ends, from the graph."""
        graph, closed, left_open = self.graph, self.closed, self.open
        maximal, hash_of, count_able = graph.maximal, graph.hash_of, graph.count_able
        waiting = [(graph.here, graph.hash)]
        while waiting:
            here, state = waiting.pop()
            closed.add(state)  # L16
            for event in maximal(here):  # L17
                previous = state ^ hash_of[event]
                rest = here ^ 1 << event
                left = left_open.pop(previous, 0) or count_able(rest)
                if left > 1:  # L18
                    left_open[previous] = left - 1
                else:
                    waiting.append((rest, previous))  # L19

    def is_exhaustive(self) -> bool:
        """Whether the terminal states visited are all there are: no step leads away from their
        prefixes."""
        return self.bound is None or self.bounds.unseen == 0

    @property
    def states(self) -> int:
        return len(self.closed)
