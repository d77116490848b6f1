"""Semaphores, events and barriers: counts and flags that threads wait for."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.frontend.kit.arithmetic import binary, conditional
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


@dataclass(frozen=True)
class EventShape(SyncShape):
    title = "Event"

    def forms(self) -> tuple[CellForm, ...]:
        return (CellForm("", 0, 1, Role.SYNC),)

    def set(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Set the flag; all who wait can go on."""
        build.act(Kind.SET, span, f"set {owner.title}", owner, Assign(owner.address, ONE))

    def clear(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Clear the flag."""
        build.act(Kind.CLEAR, span, f"clear {owner.title}", owner, Assign(owner.address, ZERO))

    def is_set(
        self, build: ThreadBuilder, owner: Reference, span: Span, *, called: str = "is_set"
    ) -> Expr:
        """Look at the flag at this moment; `called` is what the program calls this."""
        return build.inspect(span, f"{owner.title}.{called}()", owner, Load(owner.address))

    def wait(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until the flag is set."""
        build.act(
            Kind.AWAIT,
            span,
            f"wait for {owner.title}",
            owner,
            guard=binary("ne", Load(owner.address), ZERO),
        )


@dataclass(frozen=True)
class BarrierShape(SyncShape):
    """Two cells: how many are inside, and whether they are leaving.

    As in CPython, nobody may enter for the next round until all have left this one.
    """

    parties: int

    title = "Barrier"

    def forms(self) -> tuple[CellForm, ...]:
        return (
            CellForm("", 0, self.parties, Role.SYNC),
            CellForm(".leaving", 0, 1, Role.SYNC),
        )

    def wait(self, build: ThreadBuilder, owner: Reference, span: Span) -> Expr:
        """Arrive, and leave when all have arrived; returns how many came before this thread."""
        owner = build.pin(owner, span)
        inside, leaving = Load(owner.address), Load(owner.cell(1))
        index = Const(build.take_temporary(Role.INT, span))
        complete = binary("eq", binary("add", Load(index), ONE), Const(self.parties))
        build.act(
            Kind.ARRIVE,
            span,
            f"arrive at {owner.title}",
            owner,
            Assign(index, inside),
            Assign(owner.address, binary("add", Load(index), ONE)),
            Assign(owner.cell(1), complete),
            guard=binary("eq", leaving, ZERO),
        )
        empty = binary("eq", inside, ZERO)
        build.act(
            Kind.LEAVE,
            span,
            f"leave {owner.title}",
            owner,
            Assign(owner.address, binary("sub", inside, ONE)),
            Assign(owner.cell(1), conditional(empty, ZERO, ONE)),
            guard=binary("ne", leaving, ZERO),
        )
        return Load(index)
