"""Semaphores: one cell that says how many can still be taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role, Span

DEFAULT_BOUND = 15
"""How far a semaphore can count where its program does not say."""


@dataclass(frozen=True)
class SemaphoreShape(SyncShape):
    most: int
    bounded: bool = False
    """Going beyond `most` is the program's mistake, not a limit of the analysis."""
    advice: str = field(default="", compare=False)
    """What to do where `most` is a limit of the analysis, for the end of a message."""

    @property
    def title(self) -> str:
        return "BoundedSemaphore" if self.bounded else "Semaphore"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", 0, self.most, Role.SYNC),)

    def acquire(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until one is there, and take it."""
        count = Load(owner.address)
        build.act(
            Kind.DOWN,
            span,
            f"acquire {owner.title}",
            owner,
            Assign(owner.address, binary("sub", count, ONE)),
            guard=binary("gt", count, ZERO),
        )

    def try_acquire(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """Take one if there is one; returns whether there was."""
        count = Load(owner.address)
        return build.attempt(
            Kind.TRY_ACQUIRE,
            span,
            f"try to acquire {owner.title}",
            owner,
            Assign(owner.address, binary("sub", count, ONE)),
            success=binary("gt", count, ZERO),
            failure=binary("le", count, ZERO),
        )

    def release(
        self, build: ThreadBuilder, owner: Reference, span: Span, *, count: int = 1
    ) -> None:
        """Give some back."""
        result = binary("add", Load(owner.address), Const(count))
        if self.bounded:
            fault, message = Fault.LOCK, f"`{owner.title}` is released too many times"
        else:
            fault = Fault.BOUND
            message = f"`{owner.title}` exceeds {self.most}{self.advice}"
        build.act(
            Kind.UP,
            span,
            f"release {owner.title}",
            owner,
            Check(binary("le", result, Const(self.most)), fault, message),
            Assign(owner.address, result),
        )
