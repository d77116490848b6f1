"""Algorithm 2 of paper 001 by several processes, which share H.

Each process searches from the initial state, in an order of its own, and looks into the one table
H that all of them share.  A terminal state is marked under a lock by the process that reaches it:

    Search   no lock    a successor that is in H, or beyond the bound, is passed over
    Mark     the lock   unless the terminal state is in H already; L15 to L19 as they stand

*Why the result is the same.*  Mark is atomic, and does to H and to the counts of L18 what the
sequential algorithm does: a state is put into H once, by one process, which has worked out all of
its prefixes, and therefore looks at all edges that lead to it, once.  The count of a state starts
with the number of its steps within the bound.  That is a function of the state, whoever works it
out: states are hashed by names and thread numbers that all processes have in common.  So between
two Marks *Inv* of the paper holds: a state is in H exactly if all terminal states that can be
reached from it within the bound have been visited, by anybody.  *Inv* never becomes false for a
state in H, and nothing is removed from it; so a process that passes over a successor in H, however
late it looks, misses nothing.  A process ends when all successors of the initial state are in H or
beyond the bound: then all terminal states with CB(s) ≤ csb have been visited (Theorem 3).  Each is
counted by the one process that marked it.

What is lost is Theorem 4, by chance only: while a process is on its way, others may visit all that
it could have found.  It then finds no successor, or a terminal state that is in H, and backs up.
Such runs are work done twice; they are no executions.  That a state without a successor to search
is in H is asserted.

The bounds CB(s, t) are memoised by each process for itself.  When the bound is raised, each process
marks the terminal states that it has visited itself; nobody searches before all have done so.
Whether there are executions beyond the bound is a count of edges over the states that are known
to anybody; `Table.know` counts each state once.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Sequence
from typing import cast

from mazurka.errors import InternalError
from mazurka.runtime.exploring.workers.table import (
    EXECUTIONS,
    ClosedStates,
    OpenCounts,
    SharedTable,
)
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import BoundedNode, BoundedSearch
from mazurka.stateless.bounded.context_bound import count_arrivals
from mazurka.stateless.bounded.graph_search import GraphSearch
from mazurka.stateless.bounded.hashing import EMPTY, StateHash
from mazurka.stateless.explored import Level, RunOptions, run_limit
from mazurka.stateless.runs import Ended, Operation, Runnable
from mazurka.stateless.search import NOBODY

AT_ONCE = 50
"""How many terminal states are marked before another process gets the lock."""


class SharedAlgorithm2(Algorithm2):
    """Algorithm 2 as one of several processes runs it."""

    def __init__(
        self,
        program: Runnable,
        options: RunOptions,
        table: SharedTable,
        *,
        index: int,
        parent: int,
        silently: bool,
    ) -> None:
        super().__init__(program, options)
        self.begin_anew(silently=silently)
        self.table = table
        self.random = random.Random(index) if index else None
        """The first process searches in the usual order, and the others in theirs."""
        self.parent = parent
        self.published = 0
        """How many of the states known here have been made known to all."""

    def prepare(self) -> None:
        """Begin a level: mark what this process has visited on lower ones."""
        self.table.join_level()
        self.without_bounds = self.needs_no_bounds()
        self.closed = cast("set[StateHash]", ClosedStates(self.table))
        self.open = cast("dict[StateHash, int]", OpenCounts(self.table))
        for first in range(0, len(self.terminals), AT_ONCE):
            with self.table.alone():
                self.visit(self.terminals[first : first + AT_ONCE])

    def explore(self, bound: int | None) -> Level:
        """Whether ends and joins are steps is for all processes to agree on: `LivesMatter` gets
        through."""
        return BoundedSearch.explore(self, bound)

    def restart(self) -> bool:
        skipped = self.explored.skipped
        GraphSearch.restart(self)
        self.explored.executions = len(self.terminals)
        if self.terminals:
            self.explored.skipped = skipped
        return EMPTY not in self.closed

    def visit(self, states: Sequence[StateHash]) -> None:
        """L5, with the lock held: mark terminal states, and count them as executions."""
        self.table.words[EXECUTIONS] += len(states)
        if self.without_bounds:
            self.mark_along()
        else:
            self.mark(states)

    def enter(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> BoundedNode:
        node = super().enter(pending, enabled, last)
        if self.random is not None and len(node.order) > 1:
            order = list(node.order)
            self.random.shuffle(order)
            node.order = tuple(order)
        return node

    def force(self, thread: int) -> bool:
        """Force no thread: another process may have closed the only successor meanwhile."""
        return False

    def choose(self, node: BoundedNode) -> int:
        node.state = self.graph.hash
        thread = self.find(node)  # L8, L9
        if thread == NOBODY:
            self.require_closed(node.state)
        return thread

    def require_closed(self, state: StateHash) -> None:
        """Assert that other processes, which have been faster, have put a state into H."""
        with self.table.alone():
            if state not in self.closed and not self.table.stopped:
                raise InternalError("Inv: a state whose successors are all in H is in H, too")

    def note_end(self, end: Ended) -> None:
        GraphSearch.note_end(self, end)
        state = self.terminals.pop()
        if state in self.closed:
            self.take_back_run(end)
            return
        if not self.without_bounds:
            self.bounds.here()
            if end.abandoned:
                self.bounds.end_here()
        with self.table.alone():
            if state in self.closed:
                self.take_back_run(end)
                return
            self.publish()
            self.terminals.append(state)
            self.visit([state])

    def take_back_run(self, end: Ended) -> None:
        """Take back a run whose terminal state another process has visited."""
        self.explored.executions -= 1
        if end.skipped is not None:
            self.explored.skipped[end.skipped] -= 1
        self.explored.abandoned += 1

    def publish(self) -> None:
        """Make the states known that this process has worked out since it last did so."""
        known = self.bounds.known
        fresh = len(known) - self.published
        for state in itertools.islice(reversed(known), fresh):
            bounds = known[state]
            self.table.know(state, bounds[0].bit_count(), count_arrivals(bounds))
        self.published = len(known)

    def note_failures(self, end: Ended) -> None:
        super().note_failures(end)
        if self.stops_here():
            self.table.stop()

    def is_over(self) -> bool:
        limit = self.options.max_runs
        if limit is not None and self.table.words[EXECUTIONS] >= limit:
            self.explored.limit(run_limit(limit))
        if os.getppid() != self.parent:
            os._exit(1)  # nobody waits for an answer any more
        return self.table.stopped or super().is_over()

    def is_exhaustive(self) -> bool:
        """Leave the answer to the table, once all processes have ended."""
        return False
