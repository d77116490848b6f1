"""Semaphores, events and barriers: counters and flags that threads wait for."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.shapes import Blueprint, CellForm
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.sync import Handler, SyncShape, at, attempt, inspect
from mazurka.frontend.python.sync_locks import gives_up, may_fail
from mazurka.frontend.python.values import Guard, Nothing, Number, Reference, Value
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role

DEFAULT_BOUND = 15


@dataclass(frozen=True)
class SemaphoreShape(SyncShape):
    """One cell: how many can still be taken."""

    most: int
    bounded: bool = False
    """Going beyond `most` is the program's mistake, not a limit of the analysis."""

    @property
    def title(self) -> str:
        return "BoundedSemaphore" if self.bounded else "Semaphore"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", 0, self.most, Role.SYNC),)

    def methods(self) -> dict[str, Handler]:
        return {"acquire": self._acquire, "release": self._release}

    def _take(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        low.step(
            Kind.DOWN,
            node,
            f"acquire {owner.title}",
            guard=binary("gt", Load(owner.address), ZERO),
            operations=(Assign(owner.address, binary("sub", Load(owner.address), ONE)),),
            atomic=True,
            subject=owner.address,
        )

    def _put_back(self, low: Lowering, owner: Reference, count: Expr, node: ast.AST) -> None:
        result = binary("add", Load(owner.address), count)
        if self.bounded:
            fault, message = Fault.LOCK, f"`{owner.title}` is released too many times"
        else:
            fault = Fault.BOUND
            message = f"`{owner.title}` exceeds {self.most}; give `max=` when making it"
        low.step(
            Kind.UP,
            node,
            f"release {owner.title}",
            operations=(
                Check(binary("le", result, Const(self.most)), fault, message),
                Assign(owner.address, result),
            ),
            atomic=True,
            subject=owner.address,
        )

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if not may_fail(low, node, "acquire"):
            self._take(low, owner, node)
            return Number(ONE, boolean=True)
        count = Load(owner.address)
        return attempt(
            low,
            owner,
            node,
            Kind.TRY_ACQUIRE,
            f"try to acquire {owner.title}",
            success=binary("gt", count, ZERO),
            failure=binary("le", count, ZERO),
            operations=(Assign(owner.address, binary("sub", count, ONE)),),
        )

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        given = match_arguments(low, node, ("n",), "release")
        count = low.constant(given["n"], "the argument of `release`") if "n" in given else 1
        if count < 1:
            raise low.refuse(node, "`release(n)` needs a number of at least 1")
        self._put_back(low, owner, Const(count), node)
        return Nothing()

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self._take(low, guard.owner, node)

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self._put_back(low, guard.owner, ONE, node)


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
    return Blueprint(SemaphoreShape(low.model.threads, most), (Const(value),))


@callable_name("mazurka.model.BoundedSemaphore", "threading.BoundedSemaphore")
def _bounded_semaphore(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("value",), "BoundedSemaphore")
    value = _first_value(low, given.get("value"))
    return Blueprint(SemaphoreShape(low.model.threads, value, bounded=True), (Const(value),))


def _first_value(low: Lowering, node: ast.expr | None) -> int:
    value = 1 if node is None else low.constant(node, "the first value of a Semaphore")
    if node is not None and value < 0:
        raise low.refuse(node, "the first value of a Semaphore cannot be negative")
    return value


@dataclass(frozen=True)
class EventShape(SyncShape):
    """One cell: whether the event is set."""

    @property
    def title(self) -> str:
        return "Event"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", 0, 1, Role.SYNC),)

    def methods(self) -> dict[str, Handler]:
        return {
            "set": self._set,
            "clear": self._clear,
            "is_set": self._is_set,
            "wait": self._wait,
        }

    def _set(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self._store(low, owner, node, Kind.SET, "set", ONE)

    def _clear(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        return self._store(low, owner, node, Kind.CLEAR, "clear", ZERO)

    def _store(
        self, low: Lowering, owner: Reference, node: ast.Call, kind: Kind, name: str, value: Const
    ) -> Value:
        evaluate_arguments(low, node, (), name)
        low.step(
            kind,
            node,
            f"{name} {owner.title}",
            operations=(Assign(owner.address, value),),
            atomic=True,
            subject=owner.address,
        )
        return Nothing()

    def _is_set(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "is_set")
        return inspect(low, owner, node, "is_set", Load(owner.address))

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        """With a timeout: the answer is whatever the flag is when the time is up."""
        given = match_arguments(low, node, ("timeout",), "wait")
        if gives_up(low, given.get("timeout")):
            return inspect(low, owner, node, "wait", Load(owner.address))
        low.step(
            Kind.AWAIT,
            node,
            f"wait for {owner.title}",
            guard=binary("ne", Load(owner.address), ZERO),
            atomic=True,
            subject=owner.address,
        )
        return Number(ONE, boolean=True)


@callable_name("mazurka.model.Event", "threading.Event")
def _event(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Event")
    return Blueprint.default(EventShape(low.model.threads))


@dataclass(frozen=True)
class BarrierShape(SyncShape):
    """Two cells: how many are inside, and whether they are leaving.

    As in CPython, nobody may enter for the next round until all have left this one.
    """

    parties: int

    @property
    def title(self) -> str:
        return "Barrier"

    def forms(self) -> tuple[CellForm, ...]:
        return (
            CellForm("", 0, self.parties, Role.SYNC),
            CellForm(".leaving", 0, 1, Role.SYNC),
        )

    def methods(self) -> dict[str, Handler]:
        return {"wait": self._wait}

    def refused(self) -> dict[str, str]:
        advice = "broken barriers are not modelled"
        return {"abort": advice, "reset": advice}

    def _wait(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if node.args or node.keywords:
            raise low.refuse(
                node, "`wait` of a Barrier with a timeout is not supported; use `wait()`"
            )
        address = low.keep(owner.address, node, Role.POINTER)
        owner = Reference(owner.shape, address, owner.shared, owner.title)
        inside, leaving = Load(owner.address), Load(at(owner, 1))
        index = Const(low.temporary(Role.INT, node))
        complete = binary("eq", binary("add", Load(index), ONE), Const(self.parties))
        low.step(
            Kind.ARRIVE,
            node,
            f"arrive at {owner.title}",
            guard=binary("eq", leaving, ZERO),
            operations=(
                Assign(index, inside),
                Assign(owner.address, binary("add", Load(index), ONE)),
                Assign(at(owner, 1), complete),
            ),
            atomic=True,
            subject=owner.address,
        )
        empty = binary("eq", inside, ZERO)
        low.step(
            Kind.LEAVE,
            node,
            f"leave {owner.title}",
            guard=binary("ne", leaving, ZERO),
            operations=(
                Assign(owner.address, binary("sub", inside, ONE)),
                Assign(at(owner, 1), conditional(empty, ZERO, ONE)),
            ),
            atomic=True,
            subject=owner.address,
        )
        return Number(Load(index))


@callable_name("mazurka.model.Barrier", "threading.Barrier")
def _barrier(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(low, node, ("parties", "action", "timeout"), "Barrier")
    if "parties" not in given or len(given) > 1:
        raise low.refuse(node, "a barrier is written `Barrier(number_of_threads)`")
    parties = low.constant(given["parties"], "the number of threads of a Barrier")
    if parties < 1:
        raise low.refuse(node, "a Barrier needs at least one thread")
    return Blueprint.default(BarrierShape(low.model.threads, parties))
