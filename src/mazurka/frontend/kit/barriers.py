"""Barriers: threads wait until all of them have come."""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load
from mazurka.ir.program import Assign, Kind, Role, Span


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
