"""Find the cells on which threads might race: all others need no marks and no second look.

A cell can race if steps of two threads may touch it, one of them writes, and one is plain
(`mazurka.ir.passes.race_marks.steps`), unless a lock is held at every access
(`mazurka.analysis.locksets`).  *Held* means there: before the step or behind it.  Two plain steps,
or a plain one and any other, that both hold the lock before they begin are never both possible; nor
are one that holds it and one that takes it.  Two steps that both take it can be, and race if one of
them is plain: a cell which a plain step touches that may also write a lock stays under suspicion.
"""

from __future__ import annotations

from mazurka.analysis.locksets import UNPROTECTED, classify_cells
from mazurka.ir.passes.race_marks.steps import find_step_accesses, steps_of
from mazurka.ir.program import Program, Role
from mazurka.ir.values.footprints import Footprints


def find_racing_cells(program: Program) -> frozenset[int]:
    """Find the cells on which two threads might race."""
    footprints = Footprints(program)
    accesses = find_step_accesses(footprints)
    conflicting: set[int] = set()
    for number, one in enumerate(accesses):
        for other in accesses[:number] + accesses[number + 1 :]:
            conflicting |= one.plain_writes & (other.reads | other.writes)
            conflicting |= one.plain_reads & other.writes
    conflicting = {address for address in conflicting if program.cells[address].can_race}
    if not conflicting:
        return frozenset()
    protection = classify_cells(program, observed=False).cells
    suspected = _find_touched_while_locking(footprints)
    return frozenset(
        address
        for address in conflicting
        if address in suspected
        or address not in protection
        or protection[address].kind == UNPROTECTED
    )


def _find_touched_while_locking(footprints: Footprints) -> set[int]:
    """The cells of plain steps that may take or release a lock on their way."""
    found: set[int] = set()
    for thread in footprints.program.threads:
        for step in steps_of(thread):
            reads, writes = step.touched(footprints)
            cells = footprints.program.cells
            if step.is_plain and any(cells[address].role is Role.OWNER for address in writes):
                found |= reads | writes
    return found
