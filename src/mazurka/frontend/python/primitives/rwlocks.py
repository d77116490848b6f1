"""`RWLock`."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.rwlocks import RWLockShape
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.python.arguments import evaluate_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.primitives.methods import (
    Handler,
    Methods,
    methods_of,
    without_arguments,
)
from mazurka.frontend.python.values import Guard, Value


@methods_of(RWLockShape)
class RWLockMethods(Methods[RWLockShape]):
    def named(self) -> dict[str, Handler]:
        return {
            "read": lambda low, owner, node: _guard(low, owner, node, "read"),
            "write": lambda low, owner, node: _guard(low, owner, node, "write"),
            "acquire_read": without_arguments(None, self.shape.acquire_read),
            "release_read": without_arguments(None, self.shape.release_read),
            "acquire_write": without_arguments(None, self.shape.acquire_write),
            "release_write": without_arguments(None, self.shape.release_write),
        }

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        if not guard.mode:
            raise low.refuse(node, f"write `with {guard.owner.title}.read():` or `.write():`")
        reads = guard.mode == "read"
        acquire = self.shape.acquire_read if reads else self.shape.acquire_write
        acquire(low, guard.owner, low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        reads = guard.mode == "read"
        release = self.shape.release_read if reads else self.shape.release_write
        release(low, guard.owner, low.span(node))


def _guard(low: Lowering, owner: Reference, node: ast.Call, mode: str) -> Value:
    evaluate_arguments(low, node, (), mode)
    return Guard(owner, mode)


@callable_name("mazurka.model.RWLock")
def _rwlock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RWLock")
    return Blueprint.default(RWLockShape(low.program.threads))
