"""The stages at which the passes leave a program; each must behave like the one before."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.ir.passes.fold import fold
from mazurka.ir.passes.held import drop_proven_lock_checks
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.passes.merge import merge_local_steps
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import Program, Span
from mazurka.stateful.reference.full import StateSpace, explore


def folded(program: Program) -> Program:
    """Ranges inferred (64-bit arithmetic may wrap around here), constants folded."""
    inference = infer_ranges(program, wraps=True)
    return drop_proven_lock_checks(fold(inference.program, inference))


def prepared(program: Program) -> Program:
    return reset_dead_locals(merge_local_steps(folded(program)))


def seen_from_outside(program: Program, exploration: StateSpace) -> set[tuple[int, ...]]:
    """The contents of the shared cells in all reachable states: what passes must not change."""
    shared = [address for address, cell in enumerate(program.cells) if cell.owner is None]
    return {tuple(state[address] for address in shared) for state in exploration.states}


def difference(
    raw: Program, changed: Program, limit: int, before: StateSpace | None = None
) -> str | None:
    """What a pass changed that can be seen: shared cells, violations, excuses; None if nothing.

    `before` is all that happens in the raw program, where that is known already."""
    validate(changed)
    before, after = before or explore(raw, limit=limit), explore(changed, limit=limit)
    if not before.complete or not after.complete:
        return None
    if before.kinds != after.kinds:
        return f"violations {sorted(before.kinds)} became {sorted(after.kinds)}"
    if seen_from_outside(raw, before) != seen_from_outside(changed, after):
        return "the shared cells take other values"
    if _find_excuses(before) != _find_excuses(after):
        return "other assumptions excuse waits"
    return None


def _find_excuses(whole: StateSpace) -> set[Span]:
    """The assumptions because of which nobody moves where threads wait, if it is no deadlock."""
    return whole.stops.spans if whole.stops is not None else set()


VARIANTS: dict[str, Callable[[Program], Program]] = {
    "raw": lambda program: program,
    "reset": reset_dead_locals,
    "folded": folded,
    "prepared": prepared,
}
