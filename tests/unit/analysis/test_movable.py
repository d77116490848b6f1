"""Locks whose taking moves right and whose release moves left, past any step of another thread."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program

from mazurka.analysis.movable import find_movable_locks
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.ir.values.footprints import Footprints
from mazurka.stateful.reference.full import explore

PRELUDE = """\
import threading
from mazurka.model import *
m = threading.Lock()
n = Mutex()
r = threading.RLock()
rw = RWLock()
locks = [threading.Lock() for _ in range(2)]
c = threading.Condition(n)
x: Int[0, 3] = 0
"""


def movable(*bodies: str) -> set[str]:
    """The movable locks, among those used, of a model with a thread for each body."""
    source, names = PRELUDE, []
    for number, body in enumerate(bodies):
        source += f"def f{number}():\n    global x\n{textwrap.indent(body, '    ')}\n"
        names.append(f"f{number}()")
    program = prepare(elaborate(source + f"threads = [{', '.join(names)}]\n", "model.py"))
    footprints = Footprints(program)
    touched = [footprints.of_edge(edge) for edge in program.edges]
    used = {cell for each in touched for cell in each.reads | each.writes}
    return {program.cells[lock].name for lock in find_movable_locks(program) & used}


PLAIN = "with m:\n    x = 1"

CASES: list[tuple[tuple[str, ...], set[str]]] = [
    ((PLAIN, PLAIN), {"m"}),
    (("m.acquire()\nx = 1\nm.release()", PLAIN), {"m"}),
    (("with n:\n    x = 1", "with n:\n    x = 2"), {"n"}),
    (("with r:\n    x = 1", "with r:\n    x = 2"), {"r"}),
    (("with locks[0]:\n    with locks[1]:\n        x = 1",), {"locks[0]", "locks[1]"}),
    ((PLAIN, "if m.acquire(blocking=False):\n    m.release()"), set()),
    ((PLAIN, "if m.acquire(timeout=1):\n    m.release()"), set()),
    ((PLAIN, "assert not m.locked()"), set()),
    ((PLAIN, "m.release()"), set()),
    (("with n:\n    x = 1", "n.release()"), set()),
    (("n.acquire()\nif choose(0, 1):\n    n.release()\nn.release()", "with n:\n    x = 1"), set()),
    (("with n:\n    c.wait()", "with n:\n    c.notify()"), {"n"}),
    (("with n:\n    c.wait(timeout=1)", "with n:\n    c.notify()"), {"n"}),
    (("with rw.write():\n    x = 1", "with rw.read():\n    assert x < 2"), set()),
    (("with rw.write():\n    x = 1", "with rw.write():\n    x = 2"), {"rw"}),
]


@pytest.mark.parametrize(("bodies", "expected"), CASES)
def test_what_spoils_a_lock(bodies: tuple[str, ...], expected: set[str]) -> None:
    assert movable(*bodies) == expected


# --- the mover properties, by brute force -----------------------------------------------------


def stuck(program: Program, locks: frozenset[int], limit: int = 600) -> str | None:
    """A step on a movable lock alone that does not move as promised."""
    interpreter = Interpreter(program)
    for state in explore(program, races=False, limit=limit).states:
        for _, first in interpreter.steps(state):
            for choice, second in interpreter.steps(first.state) if first.happened else ():
                if not second.happened or first.thread == second.thread or first.fault:
                    continue
                if _moves(first, state, locks, taking=True) or _moves(
                    second, first.state, locks, taking=False
                ):
                    problem = _swapped(interpreter, state, first, second, choice)
                    if problem:
                        return problem
    return None


def _moves(step: Step, state: State, locks: frozenset[int], *, taking: bool) -> bool:
    """Whether the step takes (or releases) a movable lock and touches nothing else."""
    touched = step.footprint_reads | step.footprint_writes
    if len(touched) != 1 or not touched <= locks or step.fault:
        return False
    (lock,) = touched
    before, after = state[lock], step.state[lock]
    return before == 0 != after if taking else after == 0 != before


def _swapped(
    interpreter: Interpreter, state: State, first: Step, second: Step, choice: int
) -> str | None:
    """Why the two steps do not commute; their threads do not touch one another's cells here."""
    counters = [thread.counter for thread in interpreter.program.threads]
    if counters[first.thread] in second.footprint_writes:
        return None
    earlier = interpreter.step(state, second.thread, choice)
    if not earlier.happened:
        return f"thread {second.thread} cannot go first"
    options = range(interpreter.choices(earlier.state, first.thread))
    later = [interpreter.step(earlier.state, first.thread, option) for option in options]
    if second.state not in {step.state for step in later if step.happened}:
        return f"thread {first.thread} does something else afterwards"
    return None


def prepared(make: Callable[[Random], Program], seed: int, merge: bool) -> Program:
    return prepare(make(Random(seed)), merge=merge)


@settings(random_programs, max_examples=40)
@given(
    make=st.sampled_from((random_program, disciplined_program)),
    seed=st.integers(0, 2**32),
    merge=st.booleans(),
)
def test_movable_locks_move(make: Callable[[Random], Program], seed: int, merge: bool) -> None:
    program = prepared(make, seed, merge)
    assert stuck(program, find_movable_locks(program)) is None


def test_other_locks_do_not_all_move() -> None:
    """The brute force notices locks that are tried, inspected or released for others."""
    programs = (prepared(random_program, seed, merge=True) for seed in range(60))
    assert any(stuck(program, frozenset(range(len(program.cells)))) for program in programs)


def test_random_programs_have_movable_locks() -> None:
    found = [len(find_movable_locks(disciplined_program(Random(seed)))) for seed in range(30)]
    assert sum(found) > 10
