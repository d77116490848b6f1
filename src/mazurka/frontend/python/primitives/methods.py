"""Calls of methods of synchronization objects, and `with` blocks that hold one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.shapes import Reference, Shape, SyncShape
from mazurka.frontend.kit.signals import SemaphoreShape
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.values.kinds import Guard, Nothing, Number, Value
from mazurka.ir.expressions import ONE, Expr
from mazurka.ir.program import Span

Handler: TypeAlias = Callable[[Lowering, Reference, ast.Call], Value]

S = TypeVar("S", bound=SyncShape)


@dataclass(frozen=True)
class Methods(Generic[S]):
    """What Python code can do with an object of one shape."""

    shape: S

    def named(self) -> dict[str, Handler]:
        """The methods that models can call."""
        raise NotImplementedError

    def refused(self) -> dict[str, str]:
        """Methods that exist in Python but not in models, with what to use instead."""
        return {}

    def call(self, low: Lowering, owner: Reference, name: str, node: ast.Call) -> Value:
        handler = self.named().get(name)
        if handler is not None:
            return handler(low, owner, node)
        title = self.shape.title
        if name in self.refused():
            raise low.refuse(node, f"`{title}.{name}` is not supported; {self.refused()[name]}")
        available = ", ".join(sorted(self.named()))
        raise low.refuse(node, f"{title} has no operation `{name}`; it has {available}")

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        """Begin a `with` block."""
        raise low.refuse(node, f"a {self.shape.title} cannot be used in `with`")

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        """End a `with` block."""
        raise low.refuse(node, f"a {self.shape.title} cannot be used in `with`")


def refuse_meeting(low: Lowering, call: str, others: str, advice: str, node: ast.AST) -> None:
    """Refuse to wait inside `atomic()` for what others can do only after the thread has begun."""
    if low.require_automaton().atomic_depth:
        raise low.refuse(
            node,
            f"`{call}` inside `atomic()` can never go through: others would have to {others} in"
            f" the middle of the step; {advice}",
        )


A = TypeVar("A", LockShape, SemaphoreShape)


class AcquiredMethods(Methods[A]):
    """What can be acquired, with or without waiting, and released; `with` does both."""

    def acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if may_fail(low, node, "acquire"):
            return Number(self.shape.try_acquire(low, owner, low.span(node)), boolean=True)
        self.shape.acquire(low, owner, low.span(node))
        return Number(ONE, boolean=True)

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.acquire(low, guard.owner, low.span(node))

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.shape.release(low, guard.owner, low.span(node))


def without_arguments(
    name: str | None,
    operation: Callable[[ThreadBuilder, Reference, Span], Expr | None],
    *,
    boolean: bool = True,
) -> Handler:
    """Make a method without arguments; messages call it `name`, or else as it is written."""

    def handler(low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), name or ast.unparse(node.func))
        answer = operation(low, owner, low.span(node))
        return Nothing() if answer is None else Number(answer, boolean)

    return handler


METHODS: dict[type[Shape], type[Methods[Any]]] = {}


def methods_of(shape: type[S]) -> Callable[[type[Methods[S]]], type[Methods[S]]]:
    """Register the methods of a shape."""

    def register(methods: type[Methods[S]]) -> type[Methods[S]]:
        METHODS[shape] = methods
        return methods

    return register


def find_methods(shape: SyncShape) -> Methods[Any]:
    """Find the methods of an object."""
    return METHODS[type(shape)](shape)


def may_fail(low: Lowering, node: ast.Call, what: str) -> bool:
    """Whether a call of `acquire` gives up instead of waiting for ever.

    There is no time in models: with a timeout the call may fail whenever the lock is not free.
    """
    given = match_arguments(low, node, ("blocking", "timeout"), what)
    waits = True
    if "blocking" in given:
        waits = low.constant(given["blocking"], f"`blocking` of `{what}`") != 0
    return not waits or gives_up(low, given.get("timeout"))


def gives_up(low: Lowering, timeout: ast.expr | None) -> bool:
    """Whether a timeout limits the waiting at all."""
    match timeout:
        case None | ast.Constant(None) | ast.UnaryOp(ast.USub(), ast.Constant(1)):
            return False
        case ast.Constant(int() | float()) | ast.Name():
            return True
        case _:
            raise low.refuse(
                timeout, "a timeout must be a number or a name; its length has no meaning"
            )
