"""Read-write locks: many readers, or one writer.

A writer cell holds the writer's number plus one; a flag for each thread says whether it reads.
Nobody is preferred: a writer may starve, as with the simplest of such locks.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.kit.arithmetic import binary, both
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.shapes import CellForm, Reference, SyncShape
from mazurka.ir.expressions import ONE, ZERO, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role, Span


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

    def acquire_read(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until nobody writes, and become a reader."""
        mine = owner.cell(1 + build.number)
        message = f"`{owner.title}` is read twice by this thread"
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {owner.title} to read",
            owner,
            Check(binary("eq", Load(mine), ZERO), Fault.LOCK, message),
            Assign(mine, ONE),
            guard=binary("eq", Load(owner.address), ZERO),
        )

    def release_read(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Stop reading."""
        mine = owner.cell(1 + build.number)
        message = f"release of `{owner.title}`, which this thread does not read"
        build.act(
            Kind.RELEASE,
            span,
            f"release {owner.title} (read)",
            owner,
            Check(binary("ne", Load(mine), ZERO), Fault.LOCK, message),
            Assign(mine, ZERO),
        )

    def acquire_write(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Wait until nobody reads or writes, and become the writer."""
        build.act(
            Kind.ACQUIRE,
            span,
            f"acquire {owner.title} to write",
            owner,
            Assign(owner.address, build.me),
            guard=both(binary("eq", Load(owner.address), ZERO), self._no_reader(owner)),
        )

    def _no_reader(self, owner: Reference) -> Expr:
        """No thread reads, not even this one: turning a read into a write waits for ever."""
        result: Expr = ONE
        for number in reversed(range(self.threads)):
            result = both(binary("eq", Load(owner.cell(1 + number)), ZERO), result)
        return result

    def release_write(self, build: ThreadBuilder, owner: Reference, span: Span) -> None:
        """Stop writing."""
        message = f"release of `{owner.title}`, which this thread does not write"
        build.act(
            Kind.RELEASE,
            span,
            f"release {owner.title} (write)",
            owner,
            Check(binary("eq", Load(owner.address), build.me), Fault.LOCK, message),
            Assign(owner.address, ZERO),
        )
