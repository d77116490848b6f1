"""`Semaphore` and `BoundedSemaphore`, `Event`, `Barrier`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.kit.signals import DEFAULT_BOUND, BarrierShape, EventShape, SemaphoreShape
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    AcquiredMethods,
    Handler,
    Methods,
    gives_up,
    methods_of,
    refuse_meeting,
    without_arguments,
)
from mazurka.frontend.python.values.kinds import Nothing, Number, Value
from mazurka.ir.expressions import ONE, Const


@methods_of(SemaphoreShape)
class SemaphoreMethods(AcquiredMethods[SemaphoreShape]):
    def named(self) -> dict[str, Handler]:
        return {"acquire": self.acquire, "release": self._release}

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("n",), "release")
        count = low.constant(given["n"], "the argument of `release`") if "n" in given else 1
        if count < 1:
            raise low.refuse(node, "`release(n)` needs a number of at least 1")
        self.shape.release(low, owner, low.span(node), count=count)
        return Nothing()


@callable_name("mazurka.model.Semaphore", "threading.Semaphore")
def _semaphore(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("value", "max"), "Semaphore")
    value = _first_value(low, given.get("value"))
    most = max(DEFAULT_BOUND, value)
    if "max" in given:
        most = low.constant(given["max"], "`max` of a Semaphore")
        if most < max(value, 1):
            raise low.refuse(
                node, f"a Semaphore that starts at {value} cannot have the maximum {most}"
            )
    advice = "; give `max=` when making it"
    return Blueprint(SemaphoreShape(low.program.threads, most, advice=advice), (Const(value),))


@callable_name("mazurka.model.BoundedSemaphore", "threading.BoundedSemaphore")
def _bounded_semaphore(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("value",), "BoundedSemaphore")
    value = _first_value(low, given.get("value"))
    return Blueprint(SemaphoreShape(low.program.threads, value, bounded=True), (Const(value),))


def _first_value(low: Lowering, node: ast.expr | None) -> int:
    value = 1 if node is None else low.constant(node, "the first value of a Semaphore")
    if node is not None and value < 0:
        raise low.refuse(node, "the first value of a Semaphore cannot be negative")
    return value


@methods_of(EventShape)
class EventMethods(Methods[EventShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "set": without_arguments("set", self.shape.set),
            "clear": without_arguments("clear", self.shape.clear),
            "is_set": without_arguments("is_set", self.shape.is_set),
            "wait": self._wait,
        }

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        """Wait for the flag; with a timeout, answer what it is when the time is up."""
        given = match_arguments(low, node, ("timeout",), "wait")
        if gives_up(low, given.get("timeout")):
            flag = self.shape.is_set(low, owner, low.span(node), called="wait")
            return Number(flag, boolean=True)
        self.shape.wait(low, owner, low.span(node))
        return Number(ONE, boolean=True)


@callable_name("mazurka.model.Event", "threading.Event")
def _event(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Event")
    return Blueprint.default(EventShape(low.program.threads))


@methods_of(BarrierShape)
class BarrierMethods(Methods[BarrierShape]):
    def named(self) -> dict[str, Handler]:
        return {"wait": self._wait}

    def refused(self) -> dict[str, str]:
        advice = "broken barriers are not modelled"
        return {"abort": advice, "reset": advice}

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if node.args or node.keywords:
            raise low.refuse(
                node, "`wait` of a Barrier with a timeout is not supported; use `wait()`"
            )
        if self.shape.parties > 1:
            advice = "put it outside"
            refuse_meeting(low, f"{owner.title}.wait()", "arrive", advice, node)
        return Number(self.shape.wait(low, owner, low.span(node)))


@callable_name("mazurka.model.Barrier", "threading.Barrier")
def _barrier(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("parties", "action", "timeout"), "Barrier")
    if "parties" not in given or len(given) > 1:
        raise low.refuse(node, "a barrier is written `Barrier(number_of_threads)`")
    parties = low.constant(given["parties"], "the number of threads of a Barrier")
    if parties < 1:
        raise low.refuse(node, "a Barrier needs at least one thread")
    return Blueprint.default(BarrierShape(low.program.threads, parties))
