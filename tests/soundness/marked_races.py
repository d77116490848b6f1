"""Compares a program with marks (`mazurka.ir.passes.race_marks`) with the program itself.

All states of both are visited on the interpreter.  The marked program must reach the fault `race`
if and only if two steps of the program race in some state, and the same other faults.  The first
faults that it reaches must be faults of the program, by their translated schedules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from mazurka.analysis.racing import find_racing_cells
from mazurka.analysis.restarts import find_restartable_threads
from mazurka.errors import UnsupportedError
from mazurka.ir.interpreter import State
from mazurka.ir.passes.race_marks.program import MarkedProgram, mark_races
from mazurka.ir.passes.validate import validate
from mazurka.ir.program import WRONG, Edge, Kind, Program
from mazurka.search import Violation
from mazurka.search.marked_races import unmark
from mazurka.stateful.reference.full import StateSpace, explore
from tests.soundness.random_programs import random_program
from tests.soundness.reductions import Subject
from tests.soundness.replaying import replays
from tests.soundness.rough_programs import roughen

SORTS = ("usual", "rough", "restarting")
TRANSLATED = 12
"""How many of the faults are followed back into the program."""
MORE_STATES = 30
"""So many times as many states the marked program may have."""
REFUSED = "refused"


def program_of(sort: str, seed: int) -> Program | None:
    """A random program; None where there is none of that sort with that number."""
    if sort == "restarting":
        program = random_program(Random(seed))
        if not any(edge.kind is Kind.CREATE for edge in program.edges):
            return None
        return roughen(start_blindly(program), Random(seed)) if seed % 2 else start_blindly(program)
    program = Subject(seed).program()
    return roughen(program, Random(seed)) if sort == "rough" else program


def start_blindly(program: Program) -> Program:
    """The program in which threads are started without a look at whether they run already."""
    threads = tuple(
        replace(thread, edges=tuple(_without_looking(thread.edges))) for thread in program.threads
    )
    return replace(program, threads=threads)


def _without_looking(edges: tuple[Edge, ...]) -> Iterator[Edge]:
    for edge in edges:
        if edge.kind is not Kind.CREATE:
            yield edge
        elif edge.operations:
            yield replace(edge, guard=None)


def mark(program: Program) -> MarkedProgram:
    return mark_races(program, find_racing_cells(program), find_restartable_threads(program))


def disagreement(program: Program, whole: StateSpace) -> str | None:
    """What is wrong with the marked program; `refused` if there is none."""
    try:
        marked = mark(program)
    except UnsupportedError:
        return REFUSED
    validate(marked.program)
    found = explore(marked.program, races=False, limit=MORE_STATES * len(whole.states))
    if not found.complete:
        return None
    expected, kinds = (each.kinds - {"deadlock"} for each in (whole, found))
    if kinds != expected:
        return f"{sorted(kinds)} instead of {sorted(expected)}"
    first = [each for each in found.faults if not has_failed(marked.program, each[0])]
    for state, move, report in first[:TRANSLATED]:
        violation = Violation(str(report.fault), (*found.path_to(state), move))
        if not replays(program, unmark(marked, violation)):
            return f"{report.fault} does not replay"
    return None


def has_failed(program: Program, state: State) -> bool:
    """Whether a thread has failed: a search would have told that, and not what comes later."""
    return any(state[thread.counter] == WRONG for thread in program.threads)
