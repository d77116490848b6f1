"""From a front end's raw program to one that can be searched.

The passes, in order: derive the ranges that were not declared, fold what is then constant, drop
lock checks that cannot fail, merge local steps (on request), reset dead locals.  None of them
changes which violations can be reached.  One step a line, which can be asked for instead of
merging, may lose violations; it never adds any.
"""

from __future__ import annotations

from mazurka.ir.fold import fold
from mazurka.ir.granularity import Granularity, one_step_a_line
from mazurka.ir.held import drop_proven_lock_checks
from mazurka.ir.liveness import reset_dead_locals
from mazurka.ir.merge import merge_local_steps
from mazurka.ir.program import Program
from mazurka.ir.ranges import infer_ranges
from mazurka.ir.validate import validate


def prepare(
    program: Program, *, merge: bool = True, granularity: Granularity | None = None
) -> Program:
    """The program as the searches want it.

    With `merge=False` every local step is a state.  A granularity says what one step is, and
    then nothing else is merged.
    """
    validate(program)
    inference = infer_ranges(program)
    program = fold(inference.program, inference)
    program = drop_proven_lock_checks(program)
    if granularity is Granularity.LINE:
        program = one_step_a_line(program)
    elif granularity is None and merge:
        program = merge_local_steps(program)
    program = reset_dead_locals(program)
    validate(program)
    return program
