"""Queues of numbers: a count, the slots from the oldest to the newest, perhaps unfinished work."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, NumberShape, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Const, Element, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span

UNBOUNDED_CAPACITY = 8
"""How many items fit into a queue whose program gives it no bound."""
MOST_UNFINISHED = 15
SLOTS = 1
"""The offset of the first slot, behind the count."""


@dataclass(frozen=True)
class QueueShape(SyncShape):
    capacity: int
    element: NumberShape
    bounded: bool = True
    """Without a bound of its own, a queue that outgrows its slots is a limit of the analysis."""
    newest_first: bool = False
    counts_tasks: bool = False
    """Whether it counts the items that were put in and not yet reported as done."""
    advice: str = field(default="", compare=False)
    """What to do where the capacity is a limit of the analysis, for the end of a message."""

    @property
    def title(self) -> str:
        return "LifoQueue" if self.newest_first else "Queue"

    def forms(self) -> tuple[CellForm, ...]:
        element = self.element
        role = Role.SYNC
        slots = tuple(
            CellForm(f".item[{place}]", element.low, element.high, role, element.inferred)
            for place in range(self.capacity)
        )
        tasks = (CellForm(".unfinished", 0, MOST_UNFINISHED, role),) if self.counts_tasks else ()
        return (CellForm("", 0, self.capacity, role), *slots, *tasks)

    def zero(self) -> tuple[Expr, ...]:
        first = Const(min(max(0, self.element.low), self.element.high))
        if self.element.inferred:
            first = ZERO
        tasks = (ZERO,) if self.counts_tasks else ()
        return (ZERO, *(first,) * self.capacity, *tasks)

    def _tasks(self, owner: Reference) -> Expr:
        return owner.cell(SLOTS + self.capacity)

    def put(self, build: ThreadBuilder, owner: Reference, item: Expr, span: Span) -> None:
        """Wait for room, and put in an item; `owner` is pinned before the item is evaluated."""
        count = Load(owner.address)
        room = binary("lt", count, Const(self.capacity))
        message = f"`{owner.title}` holds more than {self.capacity} items{self.advice}"
        operations: list[Operation] = []
        if not self.bounded:
            operations.append(Check(room, Fault.BOUND, message))
        slot = Element(owner.cell(SLOTS), count, self.capacity, 1)
        operations += [
            Assign(slot, item),
            Assign(owner.address, binary("add", count, ONE)),
            *self._one_more_task(owner),
        ]
        build.act(
            Kind.PUT,
            span,
            f"put into {owner.title}",
            owner,
            *operations,
            guard=room if self.bounded else None,
        )

    def _one_more_task(self, owner: Reference) -> tuple[Operation, ...]:
        if not self.counts_tasks:
            return ()
        tasks = self._tasks(owner)
        room = binary("lt", Load(tasks), Const(MOST_UNFINISHED))
        message = f"`{owner.title}` has more than {MOST_UNFINISHED} unfinished tasks"
        more = Assign(tasks, binary("add", Load(tasks), ONE))
        return Check(room, Fault.BOUND, message), more

    def get(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """Wait for an item and take it out; returns it."""
        owner = build.pin(owner, span)
        item, count = Const(build.take_temporary(Role.INT, span)), Load(owner.address)
        build.act(
            Kind.GET,
            span,
            f"get from {owner.title}",
            owner,
            *self._take_out(owner, item),
            guard=binary("gt", count, ZERO),
        )
        return Load(item)

    def _take_out(self, owner: Reference, item: Const) -> tuple[Operation, ...]:
        """Take an item out; slots that become free go back to their first value."""
        slots = [owner.cell(SLOTS + place) for place in range(self.capacity)]
        count, empty = Load(owner.address), self.zero()[SLOTS]
        fewer = Assign(owner.address, binary("sub", count, ONE))
        if self.newest_first:
            newest = Element(slots[0], count, self.capacity, 1)
            return (fewer, Assign(item, Load(newest)), Assign(newest, empty))
        moves = [Assign(slot, Load(following)) for slot, following in pairwise(slots)]
        return (Assign(item, Load(slots[0])), *moves, Assign(slots[-1], empty), fewer)

    def size_now(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """How many items there are at this moment."""
        text = f"{owner.title}.qsize()"
        return build.inspect(span, text, owner, Load(owner.address), Role.INT)

    def empty(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """Whether there is no item at this moment."""
        none = binary("eq", Load(owner.address), ZERO)
        return build.inspect(span, f"{owner.title}.empty()", owner, none)

    def full(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """Whether there is no room at this moment; without a bound there always is."""
        full: Expr = ZERO
        if self.bounded:
            full = binary("ge", Load(owner.address), Const(self.capacity))
        return build.inspect(span, f"{owner.title}.full()", owner, full)

    def finish_task(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Report that the work on one item is done."""
        owner = build.pin(owner, span)
        tasks = self._tasks(owner)
        message = f"task_done() on `{owner.title}` called too many times"
        build.act(
            Kind.UP,
            span,
            f"task_done {owner.title}",
            owner,
            Check(binary("gt", Load(tasks), ZERO), Fault.EXCEPTION, message),
            Assign(tasks, binary("sub", Load(tasks), ONE)),
        )

    def join(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until the work on all items is done; for queues that count it."""
        build.act(
            Kind.AWAIT,
            span,
            f"wait for the tasks of {owner.title}",
            owner,
            guard=binary("eq", Load(self._tasks(owner)), ZERO),
        )
