"""Queues, and receiving from one of several: how `mazurka.ir.queues` appears to a front end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mazurka.frontend.kit.arithmetic import binary, both
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.items import ItemForm
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Element, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span
from mazurka.ir.queues import (
    FREE,
    OFFERED,
    TAKEN,
    end_offer,
    get_item,
    has_item,
    has_room,
    has_status,
    offer_item,
    put_item,
    take_offer,
)

UNBOUNDED_CAPACITY = 8
"""How many items fit into a queue whose program gives it no bound."""
MOST_UNFINISHED = 15
SLOTS = 1
"""The offset of the first slot, behind the count."""


@dataclass(frozen=True)
class Holder(SyncShape):
    """What holds items on their way from one thread to another."""

    item: ItemForm

    @property
    def taking(self) -> str:
        """How taking an item out is called; the name of the object follows."""
        return "get from"

    def put(
        self, build: ThreadBuilder, owner: Reference, fields: Sequence[Expr], span: Span
    ) -> None:
        """Wait for room, and put in an item; `owner` is pinned before the item is evaluated."""
        raise NotImplementedError

    def is_ready(self, owner: Reference) -> Expr:
        """Return the condition for taking an item out."""
        raise NotImplementedError

    def take_out(self, owner: Reference, targets: Sequence[Expr]) -> tuple[Operation, ...]:
        """Take an item out; slots that become free go back to their first value."""
        raise NotImplementedError

    def get(self, build: ThreadBuilder, owner: Reference, span: Span) -> list[Expr]:
        """Wait for an item and take it out; returns its fields."""
        owner = build.pin(owner, span)
        targets = take_targets(build, self.item, span)
        build.act(
            Kind.GET,
            span,
            f"{self.taking} {owner.title}",
            owner,
            *self.take_out(owner, targets),
            guard=self.is_ready(owner),
        )
        return [Load(target) for target in targets]


def take_targets(build: ThreadBuilder, item: ItemForm, span: Span) -> list[Const]:
    """Take temporaries for the fields of an item."""
    return [Const(build.take_temporary(Role.INT, span)) for _ in item.fields]


@dataclass(frozen=True)
class Way:
    """One of the objects that a thread receives from, and when it counts."""

    owner: Reference
    condition: Expr = ONE
    """Where it does not hold, nothing is taken from here; it may read shared cells."""
    text: str = ""
    """The condition as it was written."""


IF = " if "
"""What stands between the object of a way and its condition, in the text of an edge."""


def select_item(
    build: ThreadBuilder,
    owners: Sequence[Reference],
    evaluate: Callable[[Sequence[Reference]], Sequence[Way]],
    span: Span,
    *,
    reads: bool,
) -> tuple[Expr, list[Expr]]:
    """Wait until one of several objects has an item, and take it out, in one step.

    `evaluate` gives each of the objects a condition; the edges that it adds become part of the
    step, so a condition is evaluated again whenever what it reads has changed.  If several objects
    that count have an item, each is tried.  `reads` says whether there are conditions that read
    anything; what they read of shared data can race.  Returns the position of the one that was
    chosen, and the fields of the item.
    """
    automaton = build.require_automaton()
    owners = [build.pin(owner, span) for owner in owners]
    holders = [owner.shape for owner in owners if isinstance(owner.shape, Holder)]
    targets = take_targets(build, holders[0].item, span)
    which = Const(build.take_temporary(Role.INT, span))
    chosen = Assign(which, Choice() if len(owners) > 1 else ZERO)
    if reads:
        build.enter_section(Kind.LOCAL, span, "select")
    automaton.atomic_depth += 1
    build.step(Kind.LOCAL, span, "select", operations=(chosen,), choices=len(owners))
    ways = evaluate(owners)
    automaton.atomic_depth -= 1
    behind = automaton.new_label(span)
    for number, (way, holder) in enumerate(zip(ways, holders, strict=True)):
        owner = way.owner
        mine = binary("eq", Load(which), Const(number))
        build.add_edge(
            Kind.GET,
            span,
            f"{holder.taking} {owner.title}{IF + way.text if way.text else ''}",
            behind,
            operations=holder.take_out(owner, targets),
            guard=both(mine, both(way.condition, holder.is_ready(owner))),
            atomic=True,
            subject=owner.address,
        )
    automaton.current = None
    automaton.place(behind, span)
    return Load(which), [Load(target) for target in targets]


@dataclass(frozen=True)
class ChannelShape(Holder):
    """A rendezvous channel: who puts in an item waits until somebody has taken it."""

    @property
    def title(self) -> str:
        return "Channel"

    @property
    def taking(self) -> str:
        return "take from"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", FREE, TAKEN, Role.SYNC), *self.item.cells(0))

    def zero(self) -> tuple[Expr, ...]:
        return (ZERO, *self.item.empty())

    def put(
        self, build: ThreadBuilder, owner: Reference, fields: Sequence[Expr], span: Span
    ) -> None:
        base = owner.address
        offer = offer_item(base, fields)
        free, taken = has_status(base, FREE), has_status(base, TAKEN)
        build.act(Kind.PUT, span, f"offer on {owner.title}", owner, *offer, guard=free)
        text = f"handed over through {owner.title}"
        build.act(Kind.HAND_OVER, span, text, owner, *end_offer(base), guard=taken)

    def is_ready(self, owner: Reference) -> Expr:
        return has_status(owner.address, OFFERED)

    def take_out(self, owner: Reference, targets: Sequence[Expr]) -> tuple[Operation, ...]:
        return take_offer(owner.address, targets, self.item.empty())


@dataclass(frozen=True)
class QueueShape(Holder):
    capacity: int
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
        role = Role.SYNC
        slots = tuple(form for slot in range(self.capacity) for form in self.item.cells(slot))
        tasks = (CellForm(".unfinished", 0, MOST_UNFINISHED, role),) if self.counts_tasks else ()
        return (CellForm("", 0, self.capacity, role), *slots, *tasks)

    def zero(self) -> tuple[Expr, ...]:
        tasks = (ZERO,) if self.counts_tasks else ()
        return (ZERO, *self.item.empty() * self.capacity, *tasks)

    def _tasks(self, owner: Reference) -> Expr:
        return owner.cell(SLOTS + self.capacity * len(self.item.fields))

    def put(
        self, build: ThreadBuilder, owner: Reference, fields: Sequence[Expr], span: Span
    ) -> None:
        room = has_room(owner.address, self.capacity)
        message = f"`{owner.title}` holds more than {self.capacity} items{self.advice}"
        operations: list[Operation] = []
        if not self.bounded:
            operations.append(Check(room, Fault.BOUND, message))
        operations += put_item(owner.address, self.capacity, fields)
        operations += self._one_more_task(owner)
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

    def is_ready(self, owner: Reference) -> Expr:
        return has_item(owner.address)

    def take_out(self, owner: Reference, targets: Sequence[Expr]) -> tuple[Operation, ...]:
        base, empty = owner.address, self.item.empty()
        if not self.newest_first:
            return get_item(base, self.capacity, targets, empty)
        last, width = binary("sub", Load(base), ONE), len(targets)
        newest = [Element(owner.cell(SLOTS + n), last, self.capacity, width) for n in range(width)]
        taken = [Assign(target, Load(slot)) for target, slot in zip(targets, newest, strict=True)]
        freed = [Assign(slot, value) for slot, value in zip(newest, empty, strict=True)]
        return (*taken, *freed, Assign(base, last))  # a step reads nothing that it has written

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
