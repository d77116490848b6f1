"""What all synchronization objects have in common.

Each object is a run of cells, and each operation on it one or two edges (one macro expansion per
call); nothing else in Mazurka knows what a lock is.  Operations work on any address, so objects
can be in arrays and records and be reached through aliases.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import Shape
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.values import Guard, Number, Reference, Value
from mazurka.ir.expressions import Const, Expr, Load
from mazurka.ir.program import Assign, Kind, Operation, Role

Handler: TypeAlias = Callable[[Lowering, Reference, ast.Call], Value]


@dataclass(frozen=True)
class SyncShape(Shape):
    """A synchronization object; `threads` is how many threads the program has."""

    threads: int

    def methods(self) -> dict[str, Handler]:
        raise NotImplementedError

    def refused(self) -> dict[str, str]:
        """Methods that exist in Python but not in models, with what to use instead."""
        return {}

    def call(self, low: Lowering, owner: Reference, name: str, node: ast.Call) -> Value:
        handler = self.methods().get(name)
        if handler is not None:
            return handler(low, owner, node)
        if name in self.refused():
            raise low.refuse(
                node, f"`{self.title}.{name}` is not supported; {self.refused()[name]}"
            )
        available = ", ".join(sorted(self.methods()))
        raise low.refuse(node, f"{self.title} has no operation `{name}`; it has {available}")

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        """The beginning of a `with` block."""
        raise low.refuse(node, f"a {self.title} cannot be used in `with`")

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        """The end of a `with` block."""
        raise low.refuse(node, f"a {self.title} cannot be used in `with`")


def at(owner: Reference, offset: int) -> Expr:
    """The address of one of the object's cells."""
    return binary("add", owner.address, Const(offset))


def me(low: Lowering) -> Const:
    """How the acting thread is written into owner cells."""
    return Const(low.number + 1)


def inspect(
    low: Lowering, owner: Reference, node: ast.AST, name: str, expr: Expr, *, boolean: bool = True
) -> Number:
    """Look at the object in one step; the answer may be out of date in the next."""
    cell = low.temporary(Role.BOOL if boolean else Role.INT, node)
    low.step(
        Kind.INSPECT,
        node,
        f"{owner.title}.{name}()",
        operations=(Assign(Const(cell), expr),),
        atomic=True,
        subject=owner.address,
    )
    return Number(Load(Const(cell)), boolean)


def attempt(
    low: Lowering,
    owner: Reference,
    node: ast.AST,
    kind: Kind,
    text: str,
    *,
    success: Expr,
    failure: Expr,
    operations: tuple[Operation, ...],
) -> Number:
    """An operation that does not wait: True where it was done, False where it was not."""
    cell = Const(low.temporary(Role.BOOL, node))
    low.ways(
        kind,
        node,
        text,
        [
            (success, (*operations, Assign(cell, Const(1)))),
            (failure, (Assign(cell, Const(0)),)),
        ],
        atomic=True,
        subject=owner.address,
    )
    return Number(Load(cell), boolean=True)
