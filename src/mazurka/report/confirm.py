"""Confirming a violation: what the interpreter says happened, or `ReplayMismatch`."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.ir.interpreter import FaultReport, Interpreter, Outcome, State, Step
from mazurka.ir.program import Fault, Kind, Program
from mazurka.report.answer import Finding
from mazurka.report.places import Shown, object_name, shown_value, source_line
from mazurka.report.rows import place_name
from mazurka.report.standing import find_standings
from mazurka.report.trace import (
    KEPT_ROWS,
    Collision,
    Replay,
    ReplayMismatch,
    Trace,
    run_schedule,
)
from mazurka.search import Move, Violation
from mazurka.search.races import race_address


def confirm(
    program: Program,
    violation: Violation,
    *,
    kept: int = KEPT_ROWS,
    told: Callable[[int], None] | None = None,
) -> tuple[Finding, Trace]:
    """Replay a violation; the result is what the interpreter saw, not what the search claims.

    `told` hears from time to time how many steps have been taken.
    """
    replay = run_schedule(program, violation.path, kept=kept, told=told)
    collisions: tuple[Collision, ...] = ()
    if violation.kind == "deadlock":
        finding = _deadlock(program, replay)
    elif violation.kind == "race":
        finding, collisions = _race(program, replay, violation)
    else:
        finding = _fault(program, replay, violation)
    trace = Trace(
        threads=tuple(thread.name for thread in program.threads),
        moves=violation.path,
        rows=tuple(replay.rows),
        omitted=replay.omitted,
        ending=find_standings(program, replay.state),
        collisions=collisions,
        racing=violation.racing,
    )
    return finding, trace


def is_deadlock(program: Program, state: State) -> bool:
    """No thread can move, at least one waits, none is stopped; observers do not count."""
    waiting = False
    for _, step in Interpreter(program).steps(state):
        if program.threads[step.thread].observer:
            continue
        if step.happened or step.outcome is Outcome.STOPPED:
            return False
        waiting |= step.outcome is Outcome.WAITS
    return waiting


def _deadlock(program: Program, replay: Replay) -> Finding:
    if replay.last is not None and replay.last.fault is not None:
        raise ReplayMismatch("the schedule ends in a fault, not in a deadlock")
    if not is_deadlock(program, replay.state):
        raise ReplayMismatch("the state at the end of the schedule is no deadlock")
    ending = find_standings(program, replay.state)
    waiting = [standing for standing in ending if standing.status == "waits"]
    who = "1 thread waits" if len(waiting) == 1 else f"{len(waiting)} threads wait"
    message = f"no thread can move, {who} for ever"
    return Finding("deadlock", message, waiting[0].file, waiting[0].line)


def _fault(program: Program, replay: Replay, violation: Violation) -> Finding:
    report = replay.last.fault if replay.last is not None else None
    if report is None or replay.last is None:
        raise ReplayMismatch(f"the last step does not fail; it should end in `{violation.kind}`")
    if str(report.fault) != violation.kind:
        raise ReplayMismatch(f"the last step ends in `{report.fault}`, not `{violation.kind}`")
    values = replay.values.at(replay.last.thread, report.span.line)
    return Finding(
        violation.kind, fault_message(program, report, values), report.span.file, report.span.line
    )


def fault_message(program: Program, report: FaultReport, values: dict[str, Shown]) -> str:
    """The fault's own words, and the values that led to it."""
    message = _describe_misfit(program, report) or report.message
    if not message:
        message = f"`{source_line(program, report.span)}` fails"
    if report.fault in (Fault.RANGE, Fault.LIVELOCK, Fault.BOUND) or not values:
        return message
    listed = ", ".join(f"{place} is {value}" for place, value in values.items())
    return f"{message} ({listed})"


def _describe_misfit(program: Program, report: FaultReport) -> str:
    """A number that a queue cannot hold; the item's place in it says nothing."""
    if report.misfit is None or program.edges[report.edge].kind is not Kind.PUT:
        return ""
    cell = program.cells[report.misfit.address]
    queue = object_name(program, report.misfit.address)
    return f"put {report.misfit.value} into `{queue}`, which holds {cell.low}..{cell.high}"


def _race(
    program: Program, replay: Replay, violation: Violation
) -> tuple[Finding, tuple[Collision, ...]]:
    if violation.racing is None:
        raise ReplayMismatch("a race without the two threads that collide")
    interpreter = Interpreter(program)
    steps = [_possible(interpreter, replay.state, move) for move in violation.racing]
    if steps[0].thread == steps[1].thread:
        raise ReplayMismatch("a race of one thread with itself")
    address = race_address(program, *steps)
    if address is None:
        raise ReplayMismatch("the two steps do not collide")
    sides = tuple(_collision(program, step, address) for step in steps)
    one, other = sides
    message = (
        f"{one.name} {one.action} `{one.place}` at line {one.line} while "
        f"{other.name} {other.action} it at line {other.line}"
    )
    return Finding("race", message, one.file, one.line), sides


def _possible(interpreter: Interpreter, state: State, move: Move) -> Step:
    step = interpreter.step(state, move.thread, move.choice)
    if not step.happened:
        raise ReplayMismatch(f"thread {move.thread} cannot move at the race")
    return step


def _collision(program: Program, step: Step, address: int) -> Collision:
    accesses = [access for access in step.accesses if access.address == address]
    access = next((access for access in accesses if access.write), accesses[0])
    span = program.edges[access.edge].span
    return Collision(
        thread=step.thread,
        name=program.threads[step.thread].name,
        file=span.file,
        line=span.line,
        source=source_line(program, span),
        place=place_name(program, address, step.thread),
        action="writes" if access.write else "reads",
        value=shown_value(program, address, access.value),
    )
