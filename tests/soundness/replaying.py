"""Violations are shown on the interpreter, or they are none."""

from __future__ import annotations

from collections.abc import Collection

from mazurka.analysis.standstill import is_deadlock
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Fault, Program
from mazurka.search import PROPERTIES, Violation
from mazurka.search.races import race_address
from mazurka.stateful.hangs import is_hang


def replays(
    program: Program, violation: Violation, properties: Collection[str] = PROPERTIES
) -> bool:
    """Whether the interpreter confirms a violation that a search for some properties reports.

    After a failure the other threads go on (`docs/semantics.md`), but a search reports the first
    violation that it meets: the only failure that it passes before is of an assertion that it was
    not asked for.  A report (`mazurka.report.trace`) lets every failed assertion pass, since a
    saved trace does not say what was asked.
    """
    interpreter = Interpreter(program)
    state, fault = program.initial_state(), None
    for move in violation.path:
        step = interpreter.step(state, move.thread, move.choice)
        passed = fault is None or (fault.fault is Fault.ASSERT and "assert" not in properties)
        if not (passed and step.happened):
            return False
        state, fault = step.state, step.fault
    if violation.kind == "deadlock":
        return fault is None and is_deadlock(interpreter, state)
    if violation.kind == "race":
        if fault is not None or violation.racing is None:
            return False
        one, other = (interpreter.step(state, m.thread, m.choice) for m in violation.racing)
        happen = one.happened and other.happened and one.thread != other.thread
        return happen and race_address(program, one, other) is not None
    if violation.kind == "hang":
        start = violation.loop_start
        return fault is None and start is not None and _goes_round(interpreter, violation, state)
    return fault is not None and fault.fault == violation.kind


def _goes_round(interpreter: Interpreter, violation: Violation, state: State) -> bool:
    """Whether the moves behind `loop_start` lead from a hang back to it."""
    if not is_hang(interpreter, state):
        return False
    end = state
    for move in violation.path[violation.loop_start :]:
        end = interpreter.step(end, move.thread, move.choice).state
    return end == state and len(violation.path) > (violation.loop_start or 0)
