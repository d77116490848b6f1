"""`Queue`, `SimpleQueue` and `LifoQueue`, which hold numbers."""

from __future__ import annotations

import ast
from functools import partial

from mazurka.frontend.kit.queues import UNBOUNDED_CAPACITY, QueueShape
from mazurka.frontend.kit.shapes import BOOLEAN, INTEGER, Blueprint, NumberShape, Reference
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    Handler,
    Methods,
    methods_of,
    without_arguments,
)
from mazurka.frontend.python.values import Imported, Nothing, Number, Value, kind_of


@methods_of(QueueShape)
class QueueMethods(Methods[QueueShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "put": self._put,
            "get": self._get,
            "qsize": without_arguments("qsize", self.shape.size_now, boolean=False),
            "empty": without_arguments("empty", self.shape.empty),
            "full": without_arguments("full", self.shape.full),
            "task_done": without_arguments("task_done", self.shape.finish_task),
            "join": self._join,
        }

    def refused(self) -> dict[str, str]:
        return {
            "put_nowait": "test `full()` inside `with atomic():`, then `put`",
            "get_nowait": "test `empty()` inside `with atomic():`, then `get`",
            "shutdown": "put a special number that means the end",
        }

    def _put(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        owner = low.pin(owner, low.span(node))
        expr = _blocking_item(low, node, "put", ("item", "block", "timeout"))
        value = low.value(expr)
        if not isinstance(value, Number):
            raise low.refuse(
                expr,
                f"a queue holds numbers, not {kind_of(value)}; put a number that stands for it,"
                " such as -1",
            )
        self.shape.put(low, owner, value.expr, low.span(node))
        return Nothing()

    def _get(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        _blocking_item(low, node, "get", ("block", "timeout"))
        return Number(self.shape.get(low, owner, low.span(node)))

    def _join(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "join")
        if not self.shape.counts_tasks:
            raise low.refuse(node, "`join` of a queue waits for `task_done`, which nobody calls")
        self.shape.join(low, owner, low.span(node))
        return Nothing()


def _blocking_item(low: Lowering, node: ast.Call, name: str, names: tuple[str, ...]) -> ast.expr:
    """Find the item of `put`; refuse operations that may raise Full or Empty."""
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


@callable_name("queue.PriorityQueue", "mazurka.model.PriorityQueue")
def _priority_queue(low: Lowering, node: ast.Call) -> Value:
    raise low.refuse(
        node, "a PriorityQueue is not supported; use a Queue, or an Array and a Condition"
    )


def _make_queue(low: Lowering, node: ast.Call, *, newest_first: bool) -> Value:
    given = match_arguments(low, node, ("maxsize", "type"), "Queue")
    maxsize = low.constant(given["maxsize"], "the size of a Queue") if "maxsize" in given else 0
    element = INTEGER
    if "type" in given:
        element = _element(low, low.value(given["type"]), given["type"])
    if maxsize > 1000:
        raise low.refuse(node, f"a Queue of {maxsize} items is too large; use a small `maxsize`")
    return Blueprint.default(
        QueueShape(
            low.program.threads,
            maxsize if maxsize > 0 else UNBOUNDED_CAPACITY,
            element,
            bounded=maxsize > 0,
            newest_first=newest_first,
            counts_tasks="task_done" in low.program.survey.calls,
            advice="; give `maxsize`",
        )
    )


callable_name("mazurka.model.Queue", "queue.Queue", "queue.SimpleQueue")(
    partial(_make_queue, newest_first=False)
)
callable_name("mazurka.model.LifoQueue", "queue.LifoQueue")(partial(_make_queue, newest_first=True))


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
