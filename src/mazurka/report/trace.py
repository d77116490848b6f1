"""From a schedule to a story: the steps of a counterexample, as the interpreter replays them.

Every violation that a search finds comes through here before anyone sees it.  A schedule that
the reference interpreter does not confirm raises `ReplayMismatch`; it is never shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mazurka.analysis.standstill import examine_standstill
from mazurka.deadline import check_time
from mazurka.ir.interpreter import Access, FaultReport, Interpreter, State, Step
from mazurka.ir.program import SETTLING, Fault, Kind, Program, Role
from mazurka.report.answer import Finding
from mazurka.report.operations import (
    TraceRow,
    answers,
    hides,
    make_row,
    name_part,
    place_name,
)
from mazurka.report.places import Shown, is_hidden, object_name, shown_value, source_line
from mazurka.report.spinning import Spinning, describe_hang, follow_loop, mark_spinning
from mazurka.report.standing import Standing, find_standings
from mazurka.search import Move, Violation
from mazurka.search.races import race_address
from mazurka.search.result import LASSO
from mazurka.stack import deep_stack
from mazurka.stateful.hangs import is_hang

KEPT_ROWS = 20_000
"""Of a longer trace only the beginning and the end are told, half of this number each."""
ANY_VALUE = " has any value"
"""So ends the text of a choice that gives a variable of C its first value."""
TELLING = 50_000
"""How many steps are replayed between two words about it."""


class ReplayMismatch(Exception):  # noqa: N818 - named for what happened
    """The interpreter does not confirm a violation: an error in Mazurka, not in the input."""


@dataclass(frozen=True)
class Collision:
    """One side of a data race."""

    thread: int
    name: str
    file: str
    line: int
    source: str
    place: str
    action: str
    """`reads` or `writes`."""
    value: Shown

    def to_json(self) -> dict[str, object]:
        return {
            "thread": self.name,
            "file": self.file,
            "line": self.line,
            "source": self.source,
            "place": self.place,
            "action": self.action,
            "value": self.value,
        }


@dataclass(frozen=True)
class Trace:
    """A replayed schedule.  Where it is very long, `omitted` rows are missing in the middle."""

    threads: tuple[str, ...]
    moves: tuple[Move, ...]
    rows: tuple[TraceRow, ...]
    omitted: int = 0
    ending: tuple[Standing, ...] = ()
    collisions: tuple[Collision, ...] = ()
    racing: tuple[Move, Move] | None = None
    loop_start: int | None = None
    """The moves from this index on are repeated for ever."""
    settled: int | None = None
    """The number of moves that lead to a hang; nothing shared changes behind them."""
    spinning: tuple[Spinning, ...] = ()
    """The threads that repeat them."""

    @property
    def steps(self) -> int:
        """How many steps lead to what was found."""
        return len(self.moves) if self.settled is None else self.settled

    @property
    def switches(self) -> int:
        """How often another thread goes on in them than the one that moved last."""
        leading = self.moves[: self.steps]
        return sum(one.thread != other.thread for one, other in pairwise(leading))


class LineValues:
    """The values each thread has read on the source line it is at.

    Compound expressions are split into several steps, so the step in which an assertion fails
    may itself read nothing but temporaries; people want to see the values those came from.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: dict[int, int] = {}
        self.values: dict[int, dict[str, Shown]] = {}

    def note(self, step: Step, before: State) -> None:
        for access in step.accesses:
            self._note(step.thread, access)
        answered = answers(self.program, step, before, self.lines.get(step.thread))
        for asked, value in answered.items():
            if not asked.endswith(ANY_VALUE):  # the variable is named beside it
                self.values[step.thread][asked] = value

    def _note(self, thread: int, access: Access) -> None:
        edge, cell = self.program.edges[access.edge], self.program.cells[access.address]
        line = edge.span.line
        if self.lines.get(thread) != line:
            self.lines[thread] = line
            self.values[thread] = {}
        if not (access.write or is_hidden(cell) or hides(edge, cell)):
            place = place_name(self.program, access.address, thread)
            value = shown_value(self.program, access.address, access.value)
            held = cell.role is Role.OWNER and access.value
            self.values[thread][place] = f"held by {value}" if held else value

    def at(self, thread: int, line: int) -> dict[str, Shown]:
        return self.values.get(thread, {}) if self.lines.get(thread) == line else {}


@dataclass
class Replay:
    """The outcome of running a schedule on the interpreter."""

    state: State
    rows: list[TraceRow]
    taken: int
    """How many steps were taken; the rows may be fewer."""
    values: LineValues
    last: Step | None = None

    @property
    def omitted(self) -> int:
        return self.taken - len(self.rows)


def replay_steps(
    program: Program, moves: Iterable[Move], *, whole: bool = True
) -> Iterator[tuple[Move, State, Step]]:
    """Take the moves one after another, each with the state it starts from.

    A move that is not possible ends in `ReplayMismatch`, or just ends it, as `whole` says.  Nothing
    comes after a failure, except after an assertion: perhaps a search was not asked to look at it.
    """
    interpreter = Interpreter(program)
    state = program.initial_state()
    failed = False
    for number, move in enumerate(moves, 1):
        step = None
        if 0 <= move.thread < len(program.threads) and not failed:
            step = interpreter.step(state, move.thread, move.choice)
        if step is None or not step.happened:
            if whole:
                raise ReplayMismatch(_explain_impossible(program, number, move, step))
            return
        yield move, state, step
        failed = step.fault is not None and step.fault.fault is not Fault.ASSERT
        state = step.state


def _explain_impossible(program: Program, number: int, move: Move, step: Step | None) -> str:
    """Why a schedule cannot go on."""
    if not 0 <= move.thread < len(program.threads):
        return f"step {number} names thread {move.thread}, which does not exist"
    if step is None:
        return f"the schedule goes on after the failure in step {number - 1}"
    return f"step {number}: {program.threads[move.thread].name} cannot move ({step.outcome})"


def run_schedule(
    program: Program,
    moves: tuple[Move, ...],
    *,
    kept: int = KEPT_ROWS,
    told: Callable[[int], None] | None = None,
    whole: bool = True,
) -> Replay:
    """Replay a schedule and keep its rows, up to `kept` of them.

    With `whole` a move that is not possible is a `ReplayMismatch`; without, the replay ends there.
    """
    half = kept // 2
    head: list[TraceRow] = []
    tail: deque[tuple[int, Move, Step, State]] = deque(maxlen=max(kept - half, 1))
    values = LineValues(program)
    state, last, number = program.initial_state(), None, 0
    for number, (move, before, step) in enumerate(replay_steps(program, moves, whole=whole), 1):
        values.note(step, before)
        if number % 256 == 0:
            check_time("replaying the counterexample")
        if told is not None and number % TELLING == 0:
            told(number)
        state, last = step.state, step
        if number <= half:
            head.append(make_row(program, number, move, step, before))
        else:
            tail.append((number, move, step, before))
    rows = head + [make_row(program, *told) for told in tail]
    return Replay(state, rows, number, values, last)


@deep_stack()
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
    spinning: tuple[Spinning, ...] = ()
    if violation.kind == "deadlock":
        finding = _deadlock(program, replay)
    elif violation.kind == "hang":
        finding, spinning = _hang(program, replay, violation)
    elif violation.kind == LASSO:
        finding = _lasso(program, replay, violation)
    elif violation.kind == "race":
        finding, collisions = _race(program, replay, violation)
    else:
        finding = _fault(program, replay, violation)
    trace = Trace(
        threads=tuple(thread.name for thread in program.threads),
        moves=violation.path,
        rows=tuple(replay.rows),
        omitted=replay.omitted,
        ending=mark_spinning(find_standings(program, replay.state, replay.last), spinning),
        collisions=collisions,
        racing=violation.racing,
        loop_start=violation.loop_start,
        settled=violation.settled,
        spinning=spinning,
    )
    return finding, trace


def _deadlock(program: Program, replay: Replay) -> Finding:
    if replay.last is not None and replay.last.fault is not None:
        raise ReplayMismatch("the schedule ends in a fault, not in a deadlock")
    found = examine_standstill(Interpreter(program), replay.state)
    if found is None or not found.deadlocked:
        raise ReplayMismatch("the state at the end of the schedule is no deadlock")
    ending = find_standings(program, replay.state, replay.last)
    waiting = [standing for standing in ending if standing.thread in found.deadlocked]
    who = "1 thread waits" if len(waiting) == 1 else f"{len(waiting)} threads wait"
    message = f"no thread can move, {who} for ever"
    return Finding("deadlock", message, waiting[0].file, waiting[0].line)


def _hang(
    program: Program, replay: Replay, violation: Violation
) -> tuple[Finding, tuple[Spinning, ...]]:
    """The schedule must lead to a hang, and its last part from there back to it."""
    start, path = violation.loop_start, violation.path
    if start is None or not 0 <= start < len(path):
        raise ReplayMismatch("a hang without the steps that are repeated for ever")
    if replay.last is not None and replay.last.fault is not None:
        raise ReplayMismatch("the schedule ends in a fault, not in a hang")
    if not is_hang(Interpreter(program), replay.state):
        raise ReplayMismatch("the state at the end of the schedule is no hang")
    found = follow_loop(program, replay.state, path[start:])
    if found is None or found[1] != replay.state:
        raise ReplayMismatch("the steps that should be repeated for ever cannot be")
    spinning = found[0]
    finding = Finding("hang", describe_hang(spinning), spinning[0].file, spinning[0].line)
    return finding, spinning


def _lasso(program: Program, replay: Replay, violation: Violation) -> Finding:
    """The last part of the schedule must lead back to where it begins; it is followed once more.

    Whether the formula is violated there, the search has judged (`mazurka.ltl.lassos`)."""
    start, path = violation.loop_start, violation.path
    if start is None or not 0 <= start <= len(path):
        raise ReplayMismatch("a run that never ends without the steps that are repeated for ever")
    span = program.edges[replay.last.edges[-1]].span if replay.last else program.edges[0].span
    if start == len(path):
        return Finding(LASSO, "the run ends, and stays in its last state", span.file, span.line)
    found = follow_loop(program, replay.state, path[start:])
    if found is None or found[1] != replay.state:
        raise ReplayMismatch("the steps that should be repeated for ever cannot be")
    message = f"the steps from {start + 1} to {len(path)} are repeated for ever"
    return Finding(LASSO, message, span.file, span.line)


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
    part = name_part(cell)
    where = f"{part} of an item of `{queue}`" if part else f"`{queue}`"
    return f"put {report.misfit.value} into {where}, which holds {cell.low}..{cell.high}"


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
    if not 0 <= move.thread < len(interpreter.program.threads):
        raise ReplayMismatch(f"the race names thread {move.thread}, which does not exist")
    step = interpreter.step(state, move.thread, move.choice)
    if not step.happened:
        raise ReplayMismatch(f"thread {move.thread} cannot move at the race")
    return step


def _collision(program: Program, step: Step, address: int) -> Collision:
    accesses = [access for access in step.accesses if access.address == address]
    access = next((access for access in accesses if access.write), accesses[0])
    edge = program.edges[access.edge]
    span = edge.span
    return Collision(
        thread=step.thread,
        name=program.threads[step.thread].name,
        file=span.file,
        line=span.line,
        source=source_line(program, span),
        place=place_name(program, address, step.thread),
        action="writes" if access.write and edge.text != SETTLING else "reads",
        value=shown_value(program, address, access.value),
    )
