"""What threads would do next, from the recording of the present run.

The happens-before graph knows for every prefix of the run in which states the objects were, and
before which operation each thread stood (`happens_before`).  An operation says what it would touch
in those states, and looks at the objects that decide it.  So an action is known exactly, and the
program is never driven to a prefix to find it:

- an operation that looks at nothing always goes on and touches the same objects;
- an operation that can go on reads and writes what it touches;
- one that cannot go on reads what it has looked at.

A thread's first action comes after the step that began the thread, whatever the two touch.  An
object of its own stands for that, the thread's *life*: the one reads it, the other writes it.  At a
prefix without the step that began it, a thread waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.stateless.bounded.context_bound import ContextBounds
from mazurka.stateless.bounded.happens_before import Graph
from mazurka.stateless.explored import DivergedError, Exceeded
from mazurka.stateless.reduction.actions import STUCK, Action, Events, Foresight, Move
from mazurka.stateless.runs import Operation, move_of

Actions = tuple[Action, ...]
NOTHING: frozenset[int] = frozenset()
MOST_PREFIXES = 100_000
"""How many prefixes of a failing run are looked at for a schedule with few preemptions."""


class RecordedForesight(Foresight):
    """Records the present run; objects have the numbers of the graph, lives have negative ones."""

    def __init__(self) -> None:
        self.graph = Graph()
        self._made: dict[object, Actions] = {}
        """Actions by all that makes them, so that equal ones are one object."""
        self._now: dict[int, Actions] = {}
        """What threads would do now, as far as nobody has written what that depends on."""

    def arrive(self, pending: Sequence[Operation | None]) -> Sequence[int]:
        known = len(self.graph.begun)
        self.graph.arrive(pending)
        return [~thread for _, thread in self.graph.begun[known:]]

    def settle(self, pending: Sequence[Operation | None]) -> Sequence[int]:
        known = len(self.graph.begun)
        self.graph.settle(pending)
        return [~thread for _, thread in self.graph.begun[known:]]

    def renew(self, pending: Sequence[Operation | None]) -> None:
        self.graph.renew(pending)

    def cut(self, depth: int) -> None:
        self.graph.cut(depth)
        self._now.clear()

    def take(self, action: Action) -> None:
        graph, thread = self.graph, action.thread
        touched = graph.touches_now(thread)
        touches = {number for number, _, _ in touched} | {action.life} - {None}
        writes = {number for number, _, written in touched if written}
        if action.writes != writes or action.reads | writes != touches:
            raise DivergedError(
                f"step {len(graph.schedule) + 1} of thread {thread} is not the one it took after"
                " the same steps before: the program does not do the same again"
            )
        graph.take(thread, touched)
        self._now.pop(thread, None)
        for other, actions in list(self._now.items()):
            if any(one.conflicts(action) for one in actions):
                del self._now[other]

    def actions(self) -> dict[int, Actions]:
        now, here = self._now, self.graph.here
        for thread, line in enumerate(self.graph.stands):
            if line and thread not in now:
                now[thread] = self.at(thread, here)
        return dict(sorted(now.items()))

    def preview(self, depth: int, events: Events, thread: int) -> Actions:
        return self.at(thread, (1 << depth) - 1 | events)

    def at(self, thread: int, here: Events) -> Actions:
        """What a thread would do at a prefix."""
        graph = self.graph
        if not graph.stands[thread]:
            return ()
        position = (here & graph.lines[thread]).bit_count()
        stand = graph.stands[thread][position]
        if stand.operation is None:
            return ()
        life = None if position or not stand.needs else ~thread
        if stand.needs & ~here:
            assert life is not None
            return self._attempt(thread, frozenset({life}), life)
        touched, looked_at = graph.ask_at(stand, here)
        places = None if touched is None else tuple((number, w) for number, _, w in touched)
        key = (thread, life, looked_at, places)
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._make(thread, life, looked_at, places)
        return known

    def _make(
        self,
        thread: int,
        life: int | None,
        looked_at: tuple[int, ...],
        places: tuple[tuple[int, bool], ...] | None,
    ) -> Actions:
        own = () if life is None else (life,)
        if places is None:
            return self._attempt(thread, frozenset((*looked_at, *own)), life)
        return (
            Action(
                thread=thread,
                move=thread,
                reads=frozenset((*(number for number, written in places if not written), *own)),
                writes=frozenset(number for number, written in places if written),
                may_block=bool(looked_at),
                fixed=not looked_at,
                life=life,
            ),
        )

    def _attempt(self, thread: int, reads: frozenset[int], life: int | None) -> Actions:
        return (
            Action(
                thread=thread,
                move=move_of(thread, STUCK),
                reads=reads,
                writes=NOTHING,
                enabled=False,
                may_block=True,
                fixed=False,
                life=life,
            ),
        )

    def rank(self, enabled: list[Action]) -> list[Action]:
        """Threads that give way come later, and last those that have done so more often."""
        graph = self.graph
        if not any(graph.stands[action.thread][-1].yields for action in enabled):
            return enabled
        _, stays, hasty = graph.enabled()
        return sorted(
            enabled,
            key=lambda action: (~stays >> action.thread & 1, hasty >> action.thread & 1),
        )

    def find_simplest(self, schedule: Sequence[Move]) -> tuple[tuple[Move, ...], int]:
        """The schedule with the fewest preemptions that is the same execution."""
        try:
            return ContextBounds(self.graph, MOST_PREFIXES).find_cheapest()
        except Exceeded:
            return super().find_simplest(schedule)
