"""States in which nobody moves: threads that are called deadlocked never move again.

Whether a wait is excused is judged by the program text.  Here it is held against what can happen:
in the same program with all assumptions taken away, from the same state on.  The set of deadlocked
threads is also found by trying all sets of threads, with futures that are worked out edge by edge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

from mazurka.analysis.futures import find_pattern_locks
from mazurka.analysis.standstill import Standstill, examine_standstill
from mazurka.analysis.unstopped import find_unstopped
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Program
from mazurka.stateful.reference.full import explore
from tests.soundness.going_on import may_write, without_assumptions
from tests.soundness.stopping_programs import stopping_program
from tests.soundness.variants import prepared

STATES = 600
"""What is explored of a program, and of what may follow without its assumptions."""
PROGRAMS = 100
MOST_ENDS = 6
"""How many states of a program are looked at."""


def programs() -> Iterator[tuple[int, Program]]:
    for seed in range(PROGRAMS):
        program = stopping_program(Random(seed))
        yield seed, prepared(program) if seed % 2 else program


def standstills(program: Program) -> Iterator[tuple[State, Standstill]]:
    """Some states in which threads wait and others are stopped."""
    interpreter = Interpreter(program)
    seen = 0
    for state in explore(program, races=False, limit=STATES).states:
        found = examine_standstill(interpreter, state)
        if found is not None and found.stopped and found.waiting and not found.failed:
            yield state, found
            seen += 1
            if seen == MOST_ENDS:
                return


def test_deadlocked_threads_never_move_again_whatever_the_assumptions() -> None:
    deadlocks = excused = rescued = 0
    for seed, program in programs():
        for state, found in standstills(program):
            after = explore(without_assumptions(program, state), races=False, limit=STATES)
            moved = {origin[1].thread for origin in after.states.values() if origin is not None}
            moved |= {move.thread for _, move, _ in after.faults}
            assert not moved & found.deadlocked, f"seed {seed}"
            deadlocks += bool(found.deadlocked)
            excused += not found.deadlocked
            rescued += bool(moved & found.waiting)
    assert min(deadlocks, excused, rescued) > 5, (deadlocks, excused, rescued)


def test_the_largest_set_is_found() -> None:
    compared = 0
    for seed, program in programs():
        for state, found in standstills(program):
            sets = [
                frozenset(chosen)
                for size in range(len(found.waiting) + 1)
                for chosen in itertools.combinations(sorted(found.waiting), size)
                if is_closed(program, state, found, frozenset(chosen))
            ]
            assert found.deadlocked == frozenset().union(*sets), f"seed {seed}"
            compared += 1
    assert compared > 20


def is_closed(program: Program, state: State, found: Standstill, chosen: frozenset[int]) -> bool:
    """Whether nobody outside may write what these threads read, by the definition's words."""
    interpreter = Interpreter(program)
    program = find_unstopped(program)
    held = {lock for lock in find_pattern_locks(program) if state[lock] - 1 in chosen}
    written = may_write(program, state, found.stopped | (found.waiting - chosen), held)
    for thread in chosen:
        reads: set[int] = set()
        for _, step in interpreter.steps_of(state, thread):
            reads |= step.footprint_reads
        own = {a for a, cell in enumerate(program.cells) if cell.owner == thread}
        if written & (reads | own):
            return False
    return True
