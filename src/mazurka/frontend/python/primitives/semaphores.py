"""`Semaphore` and `BoundedSemaphore`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.semaphores import DEFAULT_BOUND, SemaphoreShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import Handler, Methods, may_fail, methods_of
from mazurka.frontend.python.values import Guard, Nothing, Number, Value
from mazurka.ir.expressions import ONE, Const


@methods_of(SemaphoreShape)
class SemaphoreMethods(Methods[SemaphoreShape]):
    def named(self) -> dict[str, Handler]:
        return {"acquire": self._acquire, "release": self._release}

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if may_fail(low, node, "acquire"):
            return Number(self.shape.try_acquire(low, owner, low.span(node)), boolean=True)
        self.shape.acquire(low, owner, low.span(node))
        return Number(ONE, boolean=True)

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("n",), "release")
        count = low.constant(given["n"], "the argument of `release`") if "n" in given else 1
        if count < 1:
            raise low.refuse(node, "`release(n)` needs a number of at least 1")
        self.shape.release(low, owner, low.span(node), count=count)
        return Nothing()

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.acquire(low, guard.owner, low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.release(low, guard.owner, low.span(node))


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
