"""Locks: `Mutex`, `threading.Lock`, and the recursive ones.

A lock is an owner cell (0: free, else the holder's number plus one); a recursive one also counts.
`Mutex` may be released by its holder only.  `threading.Lock` may be released by any thread, as in
CPython; the owner cell then only serves messages.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary, conditional, either
from mazurka.frontend.kit.shapes import Blueprint, CellForm
from mazurka.frontend.python.arguments import evaluate_arguments, match_arguments
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.sync import Handler, SyncShape, at, attempt, inspect, me
from mazurka.frontend.python.values import Guard, Nothing, Number, Reference, Value
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role


@dataclass(frozen=True)
class LockShape(SyncShape):
    owned: bool = True
    """Only the holder may release it."""
    depth: int = 0
    """How often the holder may take it; 0 for a lock that is not recursive."""
    name: str = "Mutex"

    @property
    def title(self) -> str:
        return self.name

    def forms(self) -> tuple[CellForm, ...]:
        owner = CellForm("", 0, self.threads, Role.OWNER)
        if not self.depth:
            return (owner,)
        return (owner, CellForm(".count", 0, self.depth, Role.SYNC))

    def methods(self) -> dict[str, Handler]:
        found: dict[str, Handler] = {"acquire": self._acquire, "release": self._release}
        if not self.depth:
            found["locked"] = self._locked
        return found

    # --- building blocks, also used by conditions --------------------------------------------

    def free(self, low: Lowering, lock: Reference) -> Expr:
        """Whether the acting thread could take the lock now."""
        owner = Load(lock.address)
        available = binary("eq", owner, ZERO)
        return either(available, binary("eq", owner, me(low))) if self.depth else available

    def take(self, low: Lowering, lock: Reference) -> tuple[Operation, ...]:
        if not self.depth:
            return (Assign(lock.address, me(low)),)
        count = Load(at(lock, 1))
        message = f"`{lock.title}` is taken more than {self.depth} times over (--max-depth)"
        return (
            Check(binary("lt", count, Const(self.depth)), Fault.BOUND, message),
            Assign(lock.address, me(low)),
            Assign(at(lock, 1), binary("add", count, ONE)),
        )

    def held(self, low: Lowering, lock: Reference) -> Expr:
        """Whether the acting thread may release the lock."""
        owner = Load(lock.address)
        return binary("eq", owner, me(low)) if self.owned else binary("ne", owner, ZERO)

    def give_up(self, low: Lowering, lock: Reference) -> tuple[Operation, ...]:
        """One release, the check included."""
        message = (
            f"release of `{lock.title}`, which this thread does not hold"
            if self.owned
            else f"release of `{lock.title}`, which is not locked"
        )
        check = Check(self.held(low, lock), Fault.LOCK, message)
        if not self.depth:
            return (check, Assign(lock.address, ZERO))
        count = at(lock, 1)
        last = binary("eq", Load(count), ZERO)
        return (
            check,
            Assign(count, binary("sub", Load(count), ONE)),
            Assign(lock.address, conditional(last, ZERO, Load(lock.address))),
        )

    # --- operations ----------------------------------------------------------------------------

    def lock(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        low.step(
            Kind.ACQUIRE,
            node,
            f"acquire {owner.title}",
            guard=self.free(low, owner),
            operations=self.take(low, owner),
            atomic=True,
            subject=owner.address,
        )

    def unlock(self, low: Lowering, owner: Reference, node: ast.AST) -> None:
        low.step(
            Kind.RELEASE,
            node,
            f"release {owner.title}",
            operations=self.give_up(low, owner),
            atomic=True,
            subject=owner.address,
        )

    def _acquire(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        if not may_fail(low, node, "acquire"):
            self.lock(low, owner, node)
            return Number(ONE, boolean=True)
        return attempt(
            low,
            owner,
            node,
            Kind.TRY_ACQUIRE,
            f"try to acquire {owner.title}",
            success=self.free(low, owner),
            failure=negate(self.free(low, owner)),
            operations=self.take(low, owner),
        )

    def _release(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "release")
        self.unlock(low, owner, node)
        return Nothing()

    def _locked(self, low: Lowering, owner: Reference, node: ast.Call) -> Value:
        evaluate_arguments(low, node, (), "locked")
        return inspect(low, owner, node, "locked", binary("ne", Load(owner.address), ZERO))

    def enter(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.lock(low, guard.owner, node)

    def leave(self, low: Lowering, guard: Guard, node: ast.AST) -> None:
        self.unlock(low, guard.owner, node)


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


@callable_name("mazurka.model.Mutex")
def _mutex(low: Lowering, node: ast.Call) -> Value:
    given = evaluate_arguments(low, node, ("recursive",), "Mutex")
    recursive = given.get("recursive", Number(ZERO))
    if not isinstance(recursive, Number) or recursive.constant is None:
        raise low.refuse(node, "`recursive` must be True or False")
    depth = low.model.options.max_depth if recursive.constant else 0
    return Blueprint.default(LockShape(low.model.threads, depth=depth))


@callable_name("threading.Lock")
def _lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "Lock")
    return Blueprint.default(LockShape(low.model.threads, owned=False, name="Lock"))


@callable_name("threading.RLock", "mazurka.model.RMutex")
def _recursive_lock(low: Lowering, node: ast.Call) -> Value:
    evaluate_arguments(low, node, (), "RLock")
    return Blueprint.default(recursive_lock(low))


def recursive_lock(low: Lowering) -> LockShape:
    return LockShape(low.model.threads, depth=low.model.options.max_depth, name="RLock")
