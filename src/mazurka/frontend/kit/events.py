"""Events: a flag that threads wait for."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Expr, Load
from mazurka.ir.program import Assign, Kind, Role, Span


@dataclass(frozen=True)
class EventShape(SyncShape):
    @property
    def title(self) -> str:
        return "Event"

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
