"""Locks: with an owner or without, recursive or not.

A lock is an owner cell (0: free, else the holder's number plus one); a recursive one also counts.
One with `owned` may be released by its holder only (a mutex); otherwise any thread may release it,
and the owner cell serves messages only.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary, conditional, either
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span


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

    # --- parts of steps, also used by conditions -----------------------------------------------

    def is_free(self, build: ThreadBuilder, lock: Reference) -> Expr:
        """Whether the acting thread could take the lock now."""
        owner = Load(lock.address)
        available = binary("eq", owner, ZERO)
        return either(available, binary("eq", owner, build.me)) if self.depth else available

    def take(self, build: ThreadBuilder, lock: Reference) -> tuple[Operation, ...]:
        """Take the lock, which is free."""
        if not self.depth:
            return (Assign(lock.address, build.me),)
        count = Load(lock.cell(1))
        message = f"`{lock.title}` is taken more than {self.depth} times over (--max-depth)"
        return (
            Check(binary("lt", count, Const(self.depth)), Fault.BOUND, message),
            Assign(lock.address, build.me),
            Assign(lock.cell(1), binary("add", count, ONE)),
        )

    def may_release(self, build: ThreadBuilder, lock: Reference) -> Expr:
        """Whether the acting thread may release the lock."""
        owner = Load(lock.address)
        return binary("eq", owner, build.me) if self.owned else binary("ne", owner, ZERO)

    def give_up(self, build: ThreadBuilder, lock: Reference) -> tuple[Operation, ...]:
        """Release the lock once, the check included."""
        message = (
            f"release of `{lock.title}`, which this thread does not hold"
            if self.owned
            else f"release of `{lock.title}`, which is not locked"
        )
        check = Check(self.may_release(build, lock), Fault.LOCK, message)
        if not self.depth:
            return (check, Assign(lock.address, ZERO))
        count = lock.cell(1)
        last = binary("eq", Load(count), ZERO)
        return (
            check,
            Assign(count, binary("sub", Load(count), ONE)),
            Assign(lock.address, conditional(last, ZERO, Load(lock.address))),
        )

    # --- operations ----------------------------------------------------------------------------

    def acquire(self, build: ThreadBuilder, lock: Reference, span: Span) -> None:
        """Wait for the lock and take it."""
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {lock.title}",
            lock,
            *self.take(build, lock),
            guard=self.is_free(build, lock),
        )

    def try_acquire(self, build: ThreadBuilder, lock: Reference, span: Span) -> Expr:
        """Take the lock if it is free; returns whether it was."""
        return build.attempt(
            Kind.TRY_ACQUIRE,
            span,
            f"try to acquire {lock.title}",
            lock,
            *self.take(build, lock),
            success=self.is_free(build, lock),
            failure=negate(self.is_free(build, lock)),
        )

    def release(self, build: ThreadBuilder, lock: Reference, span: Span) -> None:
        """Release the lock; a fault where the thread may not."""
        build.act(Kind.RELEASE, span, f"release {lock.title}", lock, *self.give_up(build, lock))

    def locked(self, build: ThreadBuilder, lock: Reference, span: Span) -> Expr:
        """Whether somebody holds the lock at this moment."""
        held = binary("ne", Load(lock.address), ZERO)
        return build.inspect(span, f"{lock.title}.locked()", lock, held)
