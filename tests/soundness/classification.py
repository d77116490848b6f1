"""Checks the classes that a search gives to cells against every state of the program.

Paper 002's theorem says that a classification which holds in the reduced state space holds in the
whole one.  A class that is wrong somewhere shows that executions were lost, even where the verdict
happens to be right.  Cells that are handed over have no such simple test and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import FINISHED, IDLE, Mode, Program, Role
from mazurka.ir.remembering import share_interpreter
from mazurka.search import CellClass


@dataclass(frozen=True)
class Use:
    """One way in which a cell is accessed."""

    thread: int
    write: bool
    held: frozenset[str]
    """The locks that the thread holds before or after the step."""


def uses_of_cells(program: Program, states: Iterable[State]) -> dict[int, set[Use]]:
    """All accesses to shared data cells, by address; what a thread does while it is alone is free.

    Looking counts: a thread that waits has read what it waits for.  An atomic section that cannot
    be finished has not happened: what it touches before it takes its lock does not count.
    """
    interpreter = share_interpreter(program)
    found: dict[int, set[Use]] = defaultdict(set)
    for state in states:
        for _, step in interpreter.steps(state):
            if not step.happened and _begins_section(program, state, step.thread):
                continue
            for address in step.footprint_reads | step.footprint_writes:
                cell = program.cells[address]
                if cell.owner is None and cell.can_race and not _alone(program, state, step.thread):
                    write = step.happened and address in step.footprint_writes
                    found[address].add(Use(step.thread, write, _held(program, state, step)))
    return found


def _begins_section(program: Program, state: State, number: int) -> bool:
    thread = program.threads[number]
    targets = (edge.target for edge in thread.edges_at(state[thread.counter]))
    return any(thread.locations[target].mode is Mode.ATOMIC for target in targets)


def _alone(program: Program, state: State, thread: int) -> bool:
    """Whether every other thread has finished or has not been created yet."""
    return all(
        state[other.counter] in (IDLE, FINISHED)
        for number, other in enumerate(program.threads)
        if number != thread
    )


def _held(program: Program, state: State, step: Step) -> frozenset[str]:
    me = step.thread + 1
    return frozenset(
        cell.name
        for address, cell in enumerate(program.cells)
        if cell.role is Role.OWNER and me in (state[address], step.state[address])
    )


def wrong_class(uses: dict[int, set[Use]], classification: Iterable[CellClass]) -> str | None:
    """The first class that some access contradicts."""
    for given in classification:
        seen = uses.get(given.address, set())
        shared = len({use.thread for use in seen}) > 1
        wrong = False
        match given.kind:
            case "unshared":
                wrong = shared
            case "read-only":
                wrong = shared and any(use.write for use in seen)
            case "protected":
                locks = set((given.lock or "").split(", "))
                wrong = shared and not all(locks <= use.held for use in seen)
        if wrong:
            by = f" by {given.lock}" if given.lock else ""
            return f"`{given.cell}` is called {given.kind}{by}, which is not so"
    return None
