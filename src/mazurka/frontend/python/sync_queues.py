"""Queues of numbers: a count, the slots from the oldest to the newest, perhaps unfinished work."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import BOOLEAN, INTEGER, Blueprint, CellForm, NumberShape
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.sync import Handler, SyncShape, at, inspect
from mazurka.frontend.python.values import Imported, Nothing, Number, Reference, Value, kind_of
from mazurka.ir.expressions import ONE, ZERO, Const, Element, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role

UNBOUNDED_CAPACITY = 8
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

    def methods(self) -> dict[str, Handler]:
        return {
            "put": self._put,
            "get": self._get,
            "qsize": self._qsize,
            "empty": self._empty,
            "full": self._full,
            "task_done": self._task_done,
            "join": self._join,
        }

    def refused(self) -> dict[str, str]:
        return {
            "put_nowait": "test `full()` inside `with atomic():`, then `put`",
            "get_nowait": "test `empty()` inside `with atomic():`, then `get`",
            "shutdown": "put a special number that means the end",
        }

    def _settled(self, low: Lowering, owner: Reference, node: ast.AST) -> Reference:
        address = low.keep(owner.address, node, Role.POINTER)
        return Reference(owner.shape, address, owner.shared, owner.title)

    def _put(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        owner = self._settled(low, owner, node)
        expr = self._blocking(low, node, "put", ("item", "block", "timeout"))
        value = low.value(expr)
        if not isinstance(value, Number):
            raise low.refuse(
                expr,
                f"a queue holds numbers, not {kind_of(value)}; put a number that stands for it,"
                " such as -1",
            )
        item = value.expr
        count = Load(owner.address)
        room = binary("lt", count, Const(self.capacity))
        message = f"`{owner.title}` holds more than {self.capacity} items; give `maxsize`"
        operations: list[Operation] = []
        if not self.bounded:
            operations.append(Check(room, Fault.BOUND, message))
        slot = Element(at(owner, SLOTS), count, self.capacity, 1)
        operations += [
            Assign(slot, item),
            Assign(owner.address, binary("add", count, ONE)),
            *self._one_more_task(owner),
        ]
        low.step(
            Kind.PUT,
            node,
            f"put into {owner.title}",
            guard=room if self.bounded else None,
            operations=operations,
            atomic=True,
            subject=owner.address,
        )
        return Nothing()

    def _one_more_task(self, owner: Reference) -> tuple[Operation, ...]:
        if not self.counts_tasks:
            return ()
        tasks = at(owner, SLOTS + self.capacity)
        room = binary("lt", Load(tasks), Const(MOST_UNFINISHED))
        message = f"`{owner.title}` has more than {MOST_UNFINISHED} unfinished tasks"
        more = Assign(tasks, binary("add", Load(tasks), ONE))
        return Check(room, Fault.BOUND, message), more

    def _blocking(
        self, low: Lowering, node: ast.Call, name: str, names: tuple[str, ...]
    ) -> ast.expr:
        """The item of `put`; operations that may raise Full or Empty are refused."""
        given = match_arguments(low, node, names, name)
        block = given.get("block")
        waits = block is None or low.constant(block, "`block`") != 0
        if not waits or "timeout" in given:
            test = "full()" if name == "put" else "empty()"
            raise low.refuse(
                node,
                f"`{name}` without waiting raises an exception, which models cannot catch; test"
                f" `{test}` inside `with atomic():`, then `{name}`",
            )
        if names[0] == "item" and "item" not in given:
            raise low.refuse(node, "`put` needs an item: `put(1)`")
        return given.get("item", node)

    def _get(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        owner = self._settled(low, owner, node)
        self._blocking(low, node, "get", ("block", "timeout"))
        item, count = Const(low.temporary(Role.INT, node)), Load(owner.address)
        low.step(
            Kind.GET,
            node,
            f"get from {owner.title}",
            guard=binary("gt", count, ZERO),
            operations=self._taking(owner, item),
            atomic=True,
            subject=owner.address,
        )
        return Number(Load(item))

    def _taking(self, owner: Reference, item: Const) -> tuple[Operation, ...]:
        """Take an item out; slots that become free go back to their first value."""
        slots = [at(owner, SLOTS + place) for place in range(self.capacity)]
        count, empty = Load(owner.address), self.zero()[SLOTS]
        fewer = Assign(owner.address, binary("sub", count, ONE))
        if self.newest_first:
            newest = Element(slots[0], count, self.capacity, 1)
            return (fewer, Assign(item, Load(newest)), Assign(newest, empty))
        moves = [Assign(slot, Load(following)) for slot, following in pairwise(slots)]
        return (Assign(item, Load(slots[0])), *moves, Assign(slots[-1], empty), fewer)

    def _qsize(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "qsize")
        return inspect(low, owner, node, "qsize", Load(owner.address), boolean=False)

    def _empty(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "empty")
        return inspect(low, owner, node, "empty", binary("eq", Load(owner.address), ZERO))

    def _full(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "full")
        full: Expr = ZERO
        if self.bounded:
            full = binary("ge", Load(owner.address), Const(self.capacity))
        return inspect(low, owner, node, "full", full)

    def _task_done(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "task_done")
        owner = self._settled(low, owner, node)
        tasks = at(owner, SLOTS + self.capacity)
        message = f"task_done() on `{owner.title}` called too many times"
        low.step(
            Kind.UP,
            node,
            f"task_done {owner.title}",
            operations=(
                Check(binary("gt", Load(tasks), ZERO), Fault.EXCEPTION, message),
                Assign(tasks, binary("sub", Load(tasks), ONE)),
            ),
            atomic=True,
            subject=owner.address,
        )
        return Nothing()

    def _join(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "join")
        tasks = at(owner, SLOTS + self.capacity) if self.counts_tasks else None
        if tasks is None:
            raise low.refuse(node, "`join` of a queue waits for `task_done`, which nobody calls")
        low.step(
            Kind.AWAIT,
            node,
            f"wait for the tasks of {owner.title}",
            guard=binary("eq", Load(tasks), ZERO),
            atomic=True,
            subject=owner.address,
        )
        return Nothing()


@callable_name("mazurka.model.Queue", "queue.Queue", "queue.SimpleQueue")
def _queue(low: Lowering, node: ast.Call) -> Value:
    return _made(low, node, newest_first=False)


@callable_name("mazurka.model.LifoQueue", "queue.LifoQueue")
def _lifo_queue(low: Lowering, node: ast.Call) -> Value:
    return _made(low, node, newest_first=True)


@callable_name("queue.PriorityQueue", "mazurka.model.PriorityQueue")
def _priority_queue(low: Lowering, node: ast.Call) -> Value:
    raise low.refuse(
        node, "a PriorityQueue is not supported; use a Queue, or an Array and a Condition"
    )


def _made(low: Lowering, node: ast.Call, *, newest_first: bool) -> Value:
    given = match_arguments(low, node, ("maxsize", "type"), "Queue")
    maxsize = low.constant(given["maxsize"], "the size of a Queue") if "maxsize" in given else 0
    element = INTEGER
    if "type" in given:
        element = _element(low, low.value(given["type"]), given["type"])
    if maxsize > 1000:
        raise low.refuse(node, f"a Queue of {maxsize} items is too large; use a small `maxsize`")
    return Blueprint.default(
        QueueShape(
            low.model.threads,
            maxsize if maxsize > 0 else UNBOUNDED_CAPACITY,
            element,
            bounded=maxsize > 0,
            newest_first=newest_first,
            counts_tasks="task_done" in low.model.survey.calls,
        )
    )


def _element(low: Lowering, value: Value, node: ast.AST) -> NumberShape:
    match value:
        case NumberShape():
            return value
        case Imported("mazurka.model.Int" | "builtins.int"):
            return INTEGER
        case Imported("mazurka.model.Bool" | "builtins.bool"):
            return BOOLEAN
        case _:
            raise low.refuse(
                node, f"a Queue holds numbers: give `Int[low, high]`, not {kind_of(value)}"
            )
