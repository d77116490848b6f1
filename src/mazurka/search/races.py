"""What a data race is: two accesses that can happen next, and that collide.

At least one of the two writes, and at least one is not part of an atomic operation.
"""

from __future__ import annotations

from mazurka.ir.interpreter import Step
from mazurka.ir.program import Program
from mazurka.search.result import Move


def races_between(program: Program, moved: list[tuple[Move, Step]]) -> list[tuple[Move, Move, int]]:
    """The pairs of possible moves that collide on a data cell (one entry a pair).

    Threads that only watch a property are no part of the program; what they read cannot race.
    """
    found: list[tuple[Move, Move, int]] = []
    real = [(move, step) for move, step in moved if not program.threads[step.thread].observer]
    for position, (first, one) in enumerate(real):
        for second, other in real[position + 1 :]:
            if first.thread == second.thread:
                continue
            address = race_address(program, one, other)
            if address is not None:
                found.append((first, second, address))
    return found


def race_address(program: Program, one: Step, other: Step) -> int | None:
    """The lowest data cell on which two co-enabled steps race, or None."""
    if program.edges[one.edges[0]].indivisible and program.edges[other.edges[0]].indivisible:
        return None
    shared = one.footprint_writes & (other.footprint_reads | other.footprint_writes)
    shared |= other.footprint_writes & one.footprint_reads
    if not shared:
        return None
    racing = [address for address in shared if program.cells[address].can_race]
    return min(racing, default=None)
