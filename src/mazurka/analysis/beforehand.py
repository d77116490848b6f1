"""What is known of a program before it is searched, found once and used by every search of it."""

from __future__ import annotations

from functools import cached_property

from mazurka.analysis.fixed import FixedSteps
from mazurka.analysis.laws import laws_of, takes_one_lock, waits_for_locks, wake_locks
from mazurka.analysis.locksets import static_protection
from mazurka.analysis.movable import movable_locks
from mazurka.ir.passes.held import Ownership
from mazurka.ir.program import Program

KEY = "_known_beforehand"


class Beforehand:
    """The results of the analyses; nobody changes them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.laws = laws_of(program)
        footprints = self.laws.footprints
        threads = range(len(program.threads))
        self.waits_for_locks = [waits_for_locks(footprints, thread) for thread in threads]
        self.takes_one_lock = [takes_one_lock(footprints, thread) for thread in threads]
        self.wake_locks = [wake_locks(program, thread) for thread in threads]
        self.proven = static_protection(program).cells
        self.fixed_steps = FixedSteps(program, self.laws.touched)

    @cached_property
    def movable_locks(self) -> frozenset[int]:
        return movable_locks(self.program)

    @cached_property
    def disciplined_locks(self) -> frozenset[int]:
        return frozenset(Ownership(self.program).disciplined)


def known_beforehand(program: Program) -> Beforehand:
    """The analyses of a program, kept with it."""
    kept: Beforehand | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = Beforehand(program)
    return kept
