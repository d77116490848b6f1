"""Read-write locks: many readers, or one writer.

A writer cell holds the writer's number plus one; a flag for each thread says whether it reads.
Nobody is preferred: a writer may starve, as with the simplest of such locks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.frontend.kit.arithmetic import binary, both
from mazurka.frontend.kit.shapes import Blueprint, CellForm
from mazurka.frontend.python.arguments import evaluate_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.sync import Handler, SyncShape, at, me
from mazurka.frontend.python.values import Guard, Nothing, Reference, Value
from mazurka.ir.expressions import ONE, ZERO, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role

Action: TypeAlias = Callable[[Lowering, Reference, ast.AST], None]


@dataclass(frozen=True)
class RWLockShape(SyncShape):
    @property
    def title(self) -> str:
        return "RWLock"

    def forms(self) -> tuple[CellForm, ...]:
        readers = (
            CellForm(f".reader[{number}]", 0, 1, Role.SYNC) for number in range(self.threads)
        )
        return (CellForm("", 0, self.threads, Role.OWNER), *readers)

    def methods(self) -> dict[str, Handler]:
        return {
            "read": lambda low, owner, node: _guard(low, owner, node, "read"),
            "write": lambda low, owner, node: _guard(low, owner, node, "write"),
            "acquire_read": self._operation(self._begin_read),
            "release_read": self._operation(self._end_read),
            "acquire_write": self._operation(self._begin_write),
            "release_write": self._operation(self._end_write),
        }

    def _operation(self, action: Action) -> Handler:
        def handler(low: Lowering, owner: Reference, node: ast.Call) -> Value:
            evaluate_arguments(low, node, (), ast.unparse(node.func))
            action(low, owner, node)
            return Nothing()

        return handler

    def _begin_read(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        mine = at(owner, 1 + low.number)
        message = f"`{owner.title}` is read twice by this thread"
        low.step(
            Kind.ACQUIRE,
            node,
            f"acquire {owner.title} to read",
            guard=binary("eq", Load(owner.address), ZERO),
            operations=(
                Check(binary("eq", Load(mine), ZERO), Fault.LOCK, message),
                Assign(mine, ONE),
            ),
            atomic=True,
            subject=owner.address,
        )

    def _end_read(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        mine = at(owner, 1 + low.number)
        message = f"release of `{owner.title}`, which this thread does not read"
        low.step(
            Kind.RELEASE,
            node,
            f"release {owner.title} (read)",
            operations=(
                Check(binary("ne", Load(mine), ZERO), Fault.LOCK, message),
                Assign(mine, ZERO),
            ),
            atomic=True,
            subject=owner.address,
        )

    def _begin_write(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        low.step(
            Kind.ACQUIRE,
            node,
            f"acquire {owner.title} to write",
            guard=both(binary("eq", Load(owner.address), ZERO), self._no_reader(owner)),
            operations=(Assign(owner.address, me(low)),),
            atomic=True,
            subject=owner.address,
        )

    def _no_reader(self, owner: Reference) -> Expr:
        """No thread reads, not even this one: turning a read into a write waits for ever."""
        result: Expr = ONE
        for number in reversed(range(self.threads)):
            result = both(binary("eq", Load(at(owner, 1 + number)), ZERO), result)
        return result

    def _end_write(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        message = f"release of `{owner.title}`, which this thread does not write"
        low.step(
            Kind.RELEASE,
            node,
            f"release {owner.title} (write)",
            operations=(
                Check(binary("eq", Load(owner.address), me(low)), Fault.LOCK, message),
                Assign(owner.address, ZERO),
            ),
            atomic=True,
            subject=owner.address,
        )

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        if not guard.mode:
            raise low.refuse(node, f"write `with {guard.owner.title}.read():` or `.write():`")
        begin = self._begin_read if guard.mode == "read" else self._begin_write
        begin(low, guard.owner, node)

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        end = self._end_read if guard.mode == "read" else self._end_write
        end(low, guard.owner, node)


def _guard(low: Lowering, owner: Reference, node: ast.Call, mode: str) -> Value:
    evaluate_arguments(low, node, (), mode)
    return Guard(owner, mode)


@callable_name("mazurka.model.RWLock")
def _rwlock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RWLock")
    return Blueprint.default(RWLockShape(low.model.threads))
