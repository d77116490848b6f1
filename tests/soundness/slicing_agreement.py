"""Compares programs without what nothing depends on with the programs themselves."""

from __future__ import annotations

from random import Random

from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.slicing import SlicedProgram, slice_program
from mazurka.ir.program import Program
from mazurka.report.trace import ReplayMismatch, confirm
from mazurka.search import Violation
from mazurka.search.sliced import tell_violation
from mazurka.stateful.reference.full import StateSpace, explore
from tests.soundness.random_programs import random_program

MANY = 1500


def random_prepared(seed: int) -> Program:
    return prepare(random_program(Random(seed), faults=seed % 2 == 0))


def find_difference(program: Program) -> tuple[str | None, bool]:
    """Say what a sliced program hides or makes up; and whether anything was left out."""
    whole = explore(program, races=False, limit=MANY)
    sliced = slice_program(program)
    if sliced is None or not whole.complete:
        return None, False
    part = explore(sliced.program, races=False, limit=MANY)
    if not part.complete:
        return "more states than the program has", True
    if show(part) != show(whole):
        return f"{sorted(show(part) ^ show(whole))} in one of them only", True
    return find_untold(sliced, part), True


def show(space: StateSpace) -> set[str]:
    """The violations: their kinds, and the messages of assertions."""
    texts = {report.message for _, _, report in space.faults if report.fault == "assert"}
    return space.kinds | texts


def find_untold(sliced: SlicedProgram, space: StateSpace) -> str | None:
    """Tell violations of the sliced program by the program itself."""
    found = [
        Violation(str(report.fault), (*space.path_to(state), move))
        for state, move, report in space.faults[:3]
    ]
    found += [Violation("deadlock", tuple(space.path_to(state))) for state in space.deadlocks[:2]]
    for violation in found:
        try:
            confirm(sliced.program, violation)
        except ReplayMismatch:
            continue  # something else has failed before
        told = tell_violation(sliced, violation)
        finding, _ = confirm(sliced.origin, told)
        if finding.kind != violation.kind:
            return f"{violation.kind} is told as {finding.kind}"
    return None
