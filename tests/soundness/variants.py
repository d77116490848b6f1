"""The stages at which the passes leave a program; each must behave like the one before."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.ir.fold import fold
from mazurka.ir.held import drop_proven_lock_checks
from mazurka.ir.liveness import reset_dead_locals
from mazurka.ir.merge import merge_local_steps
from mazurka.ir.program import Program
from mazurka.ir.ranges import infer_ranges


def folded(program: Program) -> Program:
    """Ranges inferred (64-bit arithmetic may wrap around here), constants folded."""
    inference = infer_ranges(program, wraps=True)
    return drop_proven_lock_checks(fold(inference.program, inference))


def prepared(program: Program) -> Program:
    return reset_dead_locals(merge_local_steps(folded(program)))


VARIANTS: dict[str, Callable[[Program], Program]] = {
    "raw": lambda program: program,
    "reset": reset_dead_locals,
    "folded": folded,
    "prepared": prepared,
}
