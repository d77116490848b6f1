"""Random programs whose threads send messages: through queues with and without a bound, through
rendezvous channels, from one writer or several to one reader or several.

Threads also look at counts, receive from whichever of several queues has an item (of those whose
conditions hold, over shared data or other queues), or from the first that has one, or only if there
is one, reach queues through pointers, put and get inside atomic
sections, and share variables beside the queues.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from mazurka.ir import queues
from mazurka.ir.expressions import ZERO, Binary, Choice, Conditional, Const, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Assign,
    Cell,
    Check,
    Fault,
    Kind,
    Operation,
    Program,
    Role,
    Thread,
)
from tests.soundness.building import ProgramBuilder
from tests.soundness.synchronizing import SynchronizingThread

HIGHEST = 2
"""The largest number in a field of an item."""
MOST_FIELDS = 2


@dataclass(frozen=True)
class QueuePlan:
    """A queue, and the threads that use its ends; a capacity of 0 is a rendezvous channel."""

    base: int
    capacity: int
    width: int
    bounded: bool
    writers: frozenset[int]
    readers: frozenset[int]


class QueueWorld(ProgramBuilder):
    """What the threads share.  `room` is what a queue without a bound has room for."""

    def __init__(self, rng: Random, room: int) -> None:
        super().__init__(rng, "queues", rng.randint(2, 3))
        self.room = room
        self.variable = self.add(Cell("x", 0, HIGHEST))
        self.queues = [self.plan(f"q{n}") for n in range(rng.randint(1, 3))]

    def plan(self, name: str) -> QueuePlan:
        rng = self.rng
        capacity, width, bounded = rng.choice((0, 1, 2, 2)), rng.randint(1, MOST_FIELDS), True
        if capacity and rng.random() < 0.4:
            capacity, bounded = self.room, False
        base = self.add(Cell(name, 0, max(capacity, queues.TAKEN), role=Role.SYNC))
        for place in range(max(capacity, 1) * width):
            self.add(Cell(f"{name}.item[{place}]", 0, HIGHEST, role=Role.SYNC))
        return QueuePlan(base, capacity, width, bounded, self.some(), self.some())

    def some(self) -> frozenset[int]:
        """Some threads: usually a single one."""
        count = 1 if self.rng.random() < 0.7 else 2
        return frozenset(self.rng.sample(range(self.threads), count))

    def generate(self) -> Program:
        return self.assemble([self.thread(number) for number in range(self.threads)])

    def thread(self, number: int) -> Thread:
        body = Messenger(self, number)
        body.generate(self.rng.randint(2, 4))
        return body.thread()


class Messenger(SynchronizingThread):
    """A thread that sends and receives."""

    def __init__(self, world: QueueWorld, number: int) -> None:
        super().__init__(world, number)
        self.world = world
        self.fields = [
            world.add(Cell(f"t{number}.{name}", 0, HIGHEST, owner=number)) for name in "ab"
        ]
        self.pick = world.add(Cell(f"t{number}.pick", 0, 7, owner=number))
        bases = tuple(queue.base for queue in world.queues)
        self.pointer = world.add(
            Cell(f"t{number}.p", 0, bases[-1], bases[0], number, Role.POINTER, bases)
        )

    def generate(self, length: int) -> None:
        for _ in range(length):
            self.statement()
        again = FIRST_LOCATION if self.rng.random() < 0.3 else FINISHED
        self.edge(self.here, again, Kind.LOCAL)

    def statement(self) -> None:
        rng = self.rng
        sends = [queue for queue in self.world.queues if self.number in queue.writers]
        receives = [queue for queue in self.world.queues if self.number in queue.readers]
        if rng.random() < 0.12 and not self.in_atomic:
            self.section()
        elif sends and rng.random() < 0.5:
            self.send(rng.choice(sends), sends)
        elif receives and rng.random() < 0.7:
            if not self.in_atomic and rng.random() < (0.5 if len(receives) > 1 else 0.1):
                (self.select if rng.random() < 0.7 else self.prefer)(receives)
            elif not self.in_atomic and rng.random() < 0.15:
                self.poll(rng.choice(receives))
            else:
                self.receive(rng.choice(receives), receives)
        else:
            self.other()

    def other(self) -> None:
        kind = self.rng.choice(("look", "read", "write", "check", "assume", "choose"))
        first, x = Const(self.fields[0]), Const(self.world.variable)
        if kind == "look" and self.rng.random() < 0.4:
            base = self.rng.choice(self.world.queues).base
            some = Binary("ne", Load(Const(base)), ZERO)
            self.step(Kind.INSPECT, Assign(first, some), subject=base)
        elif kind == "read":
            self.step(Kind.ACCESS, Assign(first, Load(x)))
        elif kind == "write":
            self.step(Kind.ACCESS, Assign(x, Load(first)))
        elif kind == "assume":
            self.step(Kind.ASSUME, guard=Binary("le", Load(x), Load(first)))
        elif kind == "check":
            small = Binary("lt", Load(first), Const(self.rng.randint(1, HIGHEST)))
            self.step(Kind.ASSERT, Check(small, Fault.ASSERT, "too large"))
        else:
            self.step(Kind.CHOOSE, Assign(first, Choice()), choices=2)

    def section(self) -> None:
        """Some statements in one step."""
        following = self.location()
        self.in_atomic = True
        inside = self.location()
        self.edge(self.here, inside, Kind.LOCAL)
        self.here = inside
        for _ in range(self.rng.randint(1, 2)):
            self.statement()
        self.in_atomic = False
        self.edge(self.here, following, Kind.LOCAL, atomic=True)
        self.here = following

    def item(self, width: int) -> list[Expr]:
        rng = self.rng
        loads = [Load(Const(cell)) for cell in self.fields]
        return [rng.choice([*loads, Const(rng.randint(0, HIGHEST))]) for _ in range(width)]

    def reach(self, queue: QueuePlan, similar: list[QueuePlan]) -> Expr:
        """The queue's address, or a pointer to one of its like."""
        alike = [
            other
            for other in similar
            if (other.capacity, other.width) == (queue.capacity, queue.width)
        ]
        if self.in_atomic or len(alike) < 2 or self.rng.random() < 0.4:
            return Const(queue.base)
        address: Expr = Const(alike[0].base)
        for number, other in enumerate(alike[1:], 1):
            address = Conditional(Binary("eq", Choice(), Const(number)), Const(other.base), address)
        self.step(Kind.CHOOSE, Assign(Const(self.pointer), address), choices=len(alike))
        return Load(Const(self.pointer))

    def send(self, queue: QueuePlan, similar: list[QueuePlan]) -> None:
        base, fields = self.reach(queue, similar), self.item(queue.width)
        if not queue.capacity:
            free = queues.has_status(base, queues.FREE)
            self.step(Kind.PUT, *queues.offer_item(base, fields), guard=free, subject=base)
            taken = queues.has_status(base, queues.TAKEN)
            self.step(Kind.AWAIT, *queues.end_offer(base), guard=taken, subject=base)
            return
        room = queues.has_room(base, queue.capacity)
        limit = () if queue.bounded else (Check(room, Fault.BOUND, "too many items"),)
        operations = (*limit, *queues.put_item(base, queue.capacity, fields))
        self.step(Kind.PUT, *operations, guard=room if queue.bounded else None, subject=base)

    def receive(self, queue: QueuePlan, similar: list[QueuePlan]) -> None:
        base = self.reach(queue, similar)
        condition, operations = self.taking(queue, base)
        self.step(Kind.GET, *operations, guard=condition, subject=base)

    def taking(self, queue: QueuePlan, base: Expr) -> tuple[Expr, tuple[Operation, ...]]:
        targets = [Const(cell) for cell in self.fields[: queue.width]]
        empty = [ZERO] * queue.width
        if not queue.capacity:
            offered = queues.has_status(base, queues.OFFERED)
            return offered, queues.take_offer(base, targets, empty)
        return queues.has_item(base), queues.get_item(base, queue.capacity, targets, empty)

    def select(self, among: list[QueuePlan]) -> None:
        """Receive from one of several queues that have an item, and whose conditions hold."""
        self.in_atomic = True
        self.step(Kind.CHOOSE, Assign(Const(self.pick), Choice()), choices=len(among))
        self.in_atomic = False
        following = self.location()
        for number, queue in enumerate(among):
            condition, operations = self.taking(queue, Const(queue.base))
            if self.rng.random() < 0.35:
                condition = Conditional(self.counting(queue), condition, ZERO)
            mine = Binary("eq", Load(Const(self.pick)), Const(number))
            guard = Conditional(mine, condition, ZERO)
            self.edge(
                self.here, following, Kind.GET, *operations, guard=guard, atomic=True,
                subject=Const(queue.base),
            )  # fmt: skip
        self.here = following

    def counting(self, queue: QueuePlan) -> Expr:
        """When a queue counts for a `select`: a condition over shared data, or over a queue."""
        first, x = Load(Const(self.fields[0])), Load(Const(self.world.variable))
        kind = self.rng.choice(("x", "x", "both", "queue", "own"))
        if kind == "queue":
            looked_at = self.rng.choice(self.world.queues)
            return Binary("eq", Load(Const(looked_at.base)), Const(self.rng.randint(0, 1)))
        if kind == "own":
            return Binary("gt", Load(Const(queue.base)), Const(self.rng.randint(0, 1)))
        limit = Const(self.rng.randint(0, HIGHEST))
        return Binary("eq", x, limit) if kind == "x" else Binary("le", x, first)

    def prefer(self, among: list[QueuePlan]) -> None:
        """Receive from the first of several queues that has an item."""
        following = self.location()
        for queue in among:
            condition, operations = self.taking(queue, Const(queue.base))
            subject = Const(queue.base)
            self.edge(self.here, following, Kind.GET, *operations, guard=condition, subject=subject)
        self.here = following

    def poll(self, queue: QueuePlan) -> None:
        """Receive an item if there is one."""
        following = self.location()
        condition, operations = self.taking(queue, Const(queue.base))
        subject = Const(queue.base)
        self.edge(self.here, following, Kind.GET, *operations, guard=condition, subject=subject)
        self.edge(self.here, following, Kind.LOCAL)
        self.here = following


def queue_program(rng: Random, room: int = 2) -> Program:
    return QueueWorld(rng, room).generate()
