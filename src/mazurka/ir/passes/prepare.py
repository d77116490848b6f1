"""Run the passes that turn a front end's raw program into one that can be searched.

The passes, in order: derive the ranges that were not declared, fold what is then constant, drop
lock checks that cannot fail and marks of joined threads that nobody finds, merge local steps (on
request), reset dead locals.  None of them changes which violations can be reached.  One step per
line, an alternative to merging, may lose violations; it never adds any.
"""

from __future__ import annotations

from mazurka.ir.passes.fold import fold
from mazurka.ir.passes.held import drop_proven_lock_checks
from mazurka.ir.passes.joined import drop_unseen_join_marks
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.passes.merge import Granularity, merge_lines, merge_local_steps
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import Program


def prepare(
    program: Program, *, merge: bool = True, granularity: Granularity | None = None
) -> Program:
    """Prepare a program for the searches.

    With `merge=False` every local step is a state.  A granularity says what one step is; then
    local steps are not merged.
    """
    return choose_steps(simplify(program), merge=merge, granularity=granularity)


def simplify(program: Program) -> Program:
    """Run the passes that do not depend on what one step is."""
    validate(program)
    inference = infer_ranges(program)
    folded = fold(inference.program, inference)
    return drop_unseen_join_marks(drop_proven_lock_checks(folded))


def choose_steps(
    program: Program, *, merge: bool = True, granularity: Granularity | None = None
) -> Program:
    """Run the remaining passes on a simplified program; the options are those of `prepare`."""
    if granularity is Granularity.LINE:
        program = merge_lines(program)
    elif granularity is None and merge:
        program = merge_local_steps(program)
    program = reset_dead_locals(program)
    validate(program)
    return program
