"""What Algorithms 1 and 2 have in common: states are happens-before graphs, steps have a CB(s, t).

A failure is reported with a schedule that has CB(s) preemptions, the fewest of all schedules that
are the same execution; the one that found it may have more.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.errors import InternalError
from mazurka.stateless.bounded.bounded_search import BoundedNode, BoundedSearch
from mazurka.stateless.bounded.context_bound import ContextBounds
from mazurka.stateless.bounded.hashing import EMPTY, StateHash
from mazurka.stateless.bounded.lives import LifeGraph, LivesMatter
from mazurka.stateless.bounded.recording import Touched
from mazurka.stateless.explored import DivergedError, Exceeded, Failing, Level, Progress, RunOptions
from mazurka.stateless.runs import Abandon, Ended, Operation, Runnable, Slip
from mazurka.stateless.search import NOBODY


class GraphSearch(BoundedSearch):
    """A search that records the happens-before graph of the present run."""

    def __init__(
        self, program: Runnable, options: RunOptions | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(program, options, progress)
        self.graph = self._begin_graph(silently=False)
        self.bounds = ContextBounds(self.graph, self.options.max_states)
        self.terminals: list[StateHash] = []
        """The terminal states of this level in the order in which they were reached."""
        self.closed: set[StateHash] = set()
        """H."""
        self._action: StateHash = EMPTY
        self._touched: Touched = ()
        """What the thread that was chosen is going to touch."""

    def explore(self, bound: int | None) -> Level:
        try:
            return super().explore(bound)
        except LivesMatter:
            self.begin_anew(silently=False)
            self.explored.levels.pop()
            return super().explore(bound)

    def begin_anew(self, *, silently: bool) -> None:
        """Forget all states.  From now on ends and joins are steps, or, if possible, they are not.

        States are not the same with and without them, so searches that share states have to agree.
        """
        self.graph = self._begin_graph(silently=silently)
        self.bounds = ContextBounds(self.graph, self.options.max_states)
        self.terminals.clear()

    def _begin_graph(self, *, silently: bool) -> LifeGraph:
        graph = LifeGraph(silently=silently)
        graph.early_timeouts = self.options.early_timeouts
        return graph

    def restart(self) -> bool:
        self.graph.restart()
        self.bounds.deadline = self.deadline
        self.bounds.allowance = self.options.allowance
        return super().restart()

    def extend(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Ends and joins of threads are taken at once, where they are no steps."""
        graph = self.graph
        graph.arrive(pending)
        if graph.looks and (thread := graph.find_silent(enabled)) != NOBODY:
            graph.slips.append((thread, graph.stands[thread][-1].joined))
        elif len(enabled) == 1 and self.force(enabled[0]):
            thread = enabled[0]
        else:
            events = graph.schedule  # who took the last step took the last one that is an event
            node = self.enter(pending, enabled, events[-1] if events else NOBODY)
            node.events = len(events)
            nodes = self.nodes
            node.least = nodes[-2].taken if len(nodes) > 1 else 0
            thread = self.choose(node)
            if thread == NOBODY:
                raise Abandon
            graph.extend(thread, self._touched, self._action)
        self.schedule.append(thread)
        return thread

    def force(self, thread: int) -> bool:
        """Let the only enabled thread take its step without a node, if nothing has to be noted."""
        return False

    @property
    def slip(self) -> Slip | None:
        return self._slip if self.graph.silently else None

    def _slip(self, thread: int, operation: Operation, pending: Sequence[Operation | None]) -> None:
        self.depth += 1
        self.schedule.append(thread)
        self.graph.slips.append((thread, operation.joined))

    def note_turn(self, pending: Sequence[Operation | None], thread: int) -> None:
        graph = self.graph
        graph.renew(pending)
        graph.take(thread, graph.touches_now(thread))
        if graph.hash_of[-1] != self._action:
            raise DivergedError(
                f"step {len(self.schedule) + 1} of thread {thread} is not the one it took after the"
                " same steps before: the program does not do the same again"
            )

    def find(self, node: BoundedNode) -> int:
        """The first thread t, of those not looked at, with next(s, t) not in H and CB(s, t) ≤ csb;
        s is where the graph ends."""
        graph, bound = self.graph, self.bound
        for thread in node.order[node.tried :]:
            touched = graph.stands[thread][-1].fixed or graph.touches_here(thread)
            if touched is None:
                raise DivergedError(
                    f"thread {thread} can go on after {len(self.schedule)} steps, but the states"
                    " of the objects that it touches say otherwise"
                )
            action = graph.action(thread, touched)
            if graph.hash ^ action not in self.closed and (
                bound is None or self.is_within(node, thread, bound)
            ):
                self._action, self._touched = action, touched
                return thread
            node.tried += 1
        return NOBODY

    def is_within(self, node: BoundedNode, thread: int, bound: int) -> bool:
        """CB(s, t) ≤ csb; then note what is known of it.

        With u for the last step, CB(s, t) ≤ CB(s − u, u) + 1, and the 1 is only there where a
        switch from u to t is a preemption.  So CB itself, which may be less than what the present
        run spends, has to be worked out only where this says nothing: at the states to which the
        search comes back, where it is known.
        """
        cost = node.least + node.adds(thread)
        if cost > bound:
            cost = self.bounds.cost_here(thread)
        node.taken = cost
        return cost <= bound

    def take_back(self) -> None:
        self.graph.cut(self.nodes[-1].events)

    def over(self, pending: Sequence[Operation | None]) -> None:
        """The run has come to its end, and the states of objects can still be seen."""
        self.graph.settle(pending)

    def note_end(self, end: Ended) -> None:
        """The end of a run is a terminal state; if the program gave up itself, it is one, too."""
        self.graph.settle(end.pending)
        if not end.abandoned and self.graph.count_able(self.graph.here):
            able, _, _ = self.graph.enabled()
            raise InternalError(
                "a run ended because nobody could go on, yet the states of objects say that"
                f" thread {able.bit_length() - 1} can"
            )
        self.terminals.append(self.graph.hash)

    def note_failures(self, end: Ended) -> None:
        new = [failed for failed in end.failures if self.explored.is_new(failed)]
        if not new:
            return
        try:
            schedule, preemptions = self.bounds.find_cheapest()
        except Exceeded:
            super().note_failures(end)
            return
        for failed in new:
            cheapest, taken = self.graph.expand(schedule), tuple(self.schedule)
            self.explored.add(Failing(failed, cheapest, preemptions, taken))
