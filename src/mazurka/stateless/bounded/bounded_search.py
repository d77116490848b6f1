"""Searches with a bound on preemptions, and the plainest of them: cb-dfs of paper 001.

A **preemption** is a switch away from a thread that could go on and does not give way
(`preemptions`).  Candidates begin with the thread that is running, so that the first executions,
and counterexamples, have few preemptions.  After a thread that gives way the others take turns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import Failing
from mazurka.stateless.preemptions import find_early, find_giving_way, find_untimely
from mazurka.stateless.runs import Abandon, Ended, Operation
from mazurka.stateless.search import NOBODY, Node, Search

_NEVER: dict[int, int] = {}


class BoundedNode(Node):
    """A scheduling point, and what it costs to go on from there."""

    __slots__ = (
        *("events", "giving", "hasty", "kept", "least", "order", "rests", "spent", "state"),
        *("taken", "tried"),
    )
    events: int
    state: StateHash
    """Used by searches on happens-before graphs: the events so far, and the hash of the state."""

    def __init__(self, order: Sequence[int], kept: int, spent: int, depth: int) -> None:
        self.depth = depth
        self.order = order
        """E(s): the threads that can go on, the preferred one first."""
        self.kept = kept
        """The thread from which a switch is a preemption here, if there is one."""
        self.giving: tuple[int, ...] = ()
        """The threads that give way here."""
        self.rests = _NEVER
        """How often threads have done so before, and gone on."""
        self.hasty: Sequence[int] = ()
        """The threads for which to go on is one, whoever was last."""
        self.spent = spent
        """Preemptions on the way here."""
        self.least = self.taken = 0
        """Used by searches with CB(s, t): at most so many preemptions has the cheapest run that is
        the same execution so far, and has the same last step; and after the step chosen here."""
        self.tried = 0
        """How many of `order` need no more looking at."""

    def cost(self, thread: int) -> int:
        """Preemptions of the present run, if the thread goes on from here."""
        return self.spent + self.adds(thread)

    def adds(self, thread: int) -> int:
        """1 if it is a preemption that the thread goes on from here, otherwise 0."""
        return 0 if self.kept in (thread, NOBODY) and thread not in self.hasty else 1


class BoundedSearch(Search[BoundedNode]):
    """A search that knows what its steps cost."""

    @abstractmethod
    def choose(self, node: BoundedNode) -> int:
        """Choose who goes on from a new node; NOBODY if whatever can follow has been seen."""

    def extend(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        thread = self.choose(self.enter(pending, enabled, last))
        if thread == NOBODY:
            raise Abandon
        self.schedule.append(thread)
        return thread

    def enter(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> BoundedNode:
        giving: tuple[int, ...] = ()
        for thread in enabled:
            if pending[thread].yields is not False:  # type: ignore[union-attr]
                giving = find_giving_way(pending, enabled)
                break
        kept = last if last in enabled and last not in giving else NOBODY
        order: tuple[int, ...]
        if kept == enabled[0] or len(enabled) == 1:
            order = tuple(enabled)
        elif kept >= 0:
            order = (kept, *[thread for thread in enabled if thread != kept])
        else:
            later = [thread for thread in enabled if thread > last]
            order = (*later, *[thread for thread in enabled if thread <= last])
        nodes, schedule = self.nodes, self.schedule
        if nodes:
            before = nodes[-1]
            taken = schedule[before.depth]  # what followed, up to here, was no choice
            node = BoundedNode(order, kept, before.cost(taken), len(schedule))
            if before.giving or before.rests:
                node.rests = before.rests
                if taken in before.giving:
                    node.rests = {**before.rests, taken: before.rests.get(taken, 0) + 1}
        else:
            node = BoundedNode(order, kept, 0, len(schedule))
        if giving:
            if not self.options.early_timeouts:
                untimely = find_untimely(pending, giving, enabled, node.rests)
                giving = self._leave_out(node, giving, untimely)
            self._let_rest(node, pending, giving)
        nodes.append(node)
        return node

    def _leave_out(
        self, node: BoundedNode, giving: tuple[int, ...], untimely: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Take threads whose timeout would be early out of E(s), and of those that give way."""
        if untimely:
            self.explored.left_out = True
            node.order = tuple([thread for thread in node.order if thread not in untimely])
        return tuple([thread for thread in giving if thread not in untimely])

    def _let_rest(
        self, node: BoundedNode, pending: Sequence[Operation | None], giving: tuple[int, ...]
    ) -> None:
        """Note who gives way, and who had better not go on again."""
        node.giving = giving
        node.hasty = find_early(pending, giving, node.order, node.rests)
        later = giving if len(giving) < len(node.order) else node.hasty
        free = [thread for thread in node.order if thread not in later]
        node.order = (*free, *[thread for thread in node.order if thread in later])

    def spent(self, thread: int) -> int:
        """Preemptions of the present run, if the thread goes on from the last node."""
        if not self.nodes:
            return 0
        return self.nodes[-1].cost(thread)

    def note_failures(self, end: Ended) -> None:
        if end.failures:
            schedule = tuple(self.schedule)
            spent = self.spent(schedule[self.nodes[-1].depth]) if self.nodes else 0
            for failed in end.failures:
                self.explored.add(Failing(failed, schedule, spent))


class ContextBoundedDFS(BoundedSearch):
    """Context-bounded depth-first search, *cb-dfs* in paper 001: every schedule within the bound.

    The baseline.  It prunes a step if the schedule would have more preemptions than the bound
    allows, and nothing else; so it needs no graphs, and runs equivalent schedules again and again.
    """

    name = "cb-dfs"

    def choose(self, node: BoundedNode) -> int:
        return self.choose_again(node)

    def choose_again(self, node: BoundedNode) -> int:
        while node.tried < len(node.order):
            thread = node.order[node.tried]
            node.tried += 1
            if self.bound is None or node.cost(thread) <= self.bound:
                return thread
            self.cut = True
        return NOBODY
