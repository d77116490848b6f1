"""From a front end's raw program to one that can be searched.

The passes, in order: derive the ranges that were not declared, fold what is then constant, drop
lock checks that cannot fail, merge local steps (on request), reset dead locals.  None of them
changes which violations can be reached.
"""

from __future__ import annotations

from mazurka.ir.fold import fold
from mazurka.ir.held import drop_proven_lock_checks
from mazurka.ir.liveness import reset_dead_locals
from mazurka.ir.merge import merge_local_steps
from mazurka.ir.program import Program
from mazurka.ir.ranges import infer_ranges
from mazurka.ir.validate import validate


def prepare(program: Program, *, merge: bool = True) -> Program:
    """The program as the searches want it; with `merge=False` every local step is a state."""
    validate(program)
    inference = infer_ranges(program)
    program = fold(inference.program, inference)
    program = drop_proven_lock_checks(program)
    if merge:
        program = merge_local_steps(program)
    program = reset_dead_locals(program)
    validate(program)
    return program
