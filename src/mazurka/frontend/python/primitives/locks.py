"""`Mutex`, `threading.Lock`, and the recursive ones.

`Mutex` may be released by its holder only; `threading.Lock` by any thread, as in CPython.
"""

from __future__ import annotations

import ast

from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import evaluate_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    Handler,
    Methods,
    may_fail,
    methods_of,
    without_arguments,
)
from mazurka.frontend.python.values import Guard, Number, Value
from mazurka.ir.expressions import ONE, ZERO


@methods_of(LockShape)
class LockMethods(Methods[LockShape]):
    def named(self) -> dict[str, Handler]:
        release = without_arguments("release", self.shape.release)
        found: dict[str, Handler] = {"acquire": self._acquire, "release": release}
        if not self.shape.depth:
            found["locked"] = without_arguments("locked", self.shape.locked)
        return found

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if may_fail(low, node, "acquire"):
            return Number(self.shape.try_acquire(low, owner, low.span(node)), boolean=True)
        self.shape.acquire(low, owner, low.span(node))
        return Number(ONE, boolean=True)

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.acquire(low, guard.owner, low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.release(low, guard.owner, low.span(node))


@callable_name("mazurka.model.Mutex")
def _mutex(low: Lowering, node: ast.Call) -> Value:
    given = evaluate_arguments(low, node, ("recursive",), "Mutex")
    recursive = given.get("recursive", Number(ZERO))
    if not isinstance(recursive, Number) or recursive.constant is None:
        raise low.refuse(node, "`recursive` must be True or False")
    depth = low.program.max_depth if recursive.constant else 0
    return Blueprint.default(LockShape(low.program.threads, depth=depth))


@callable_name("threading.Lock")
def _lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Lock")
    return Blueprint.default(LockShape(low.program.threads, owned=False, name="Lock"))


@callable_name("threading.RLock", "mazurka.model.RMutex")
def _recursive_lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RLock")
    return Blueprint.default(make_recursive_lock(low))


def make_recursive_lock(low: Lowering) -> LockShape:
    return LockShape(low.program.threads, depth=low.program.max_depth, name="RLock")
