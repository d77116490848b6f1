"""From a schedule to a story: the steps of a counterexample, as the interpreter replays them.

Every violation that a search finds comes through here before anyone sees it.  A schedule that
the reference interpreter does not confirm raises `ReplayMismatch`; it is never shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mazurka.ir.interpreter import Access, Interpreter, State, Step
from mazurka.ir.program import Fault, Program
from mazurka.report.operations import answers, hides
from mazurka.report.places import Shown, is_hidden, shown_value
from mazurka.report.rows import TraceRow, make_row, place_name
from mazurka.search import Move

KEPT_ROWS = 20_000
"""Of a longer trace only the beginning and the end are told, half of this number each."""


TELLING = 50_000
"""How many steps are replayed between two words about it."""


class ReplayMismatch(Exception):  # noqa: N818 - named for what happened
    """The interpreter does not confirm a violation: an error in Mazurka, not in the input."""


@dataclass(frozen=True)
class Standing:
    """Where a thread stands at the end, and why it does not go on."""

    thread: int
    name: str
    status: str
    """`waits`, `stopped`, `finished`, `not started`, `failed` or `ready`."""
    file: str
    line: int
    source: str
    reason: str

    def to_json(self) -> dict[str, object]:
        return {
            "thread": self.name,
            "status": self.status,
            "file": self.file or None,
            "line": self.line or None,
            "source": self.source,
            "reason": self.reason,
        }


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

    @property
    def switches(self) -> int:
        """How often another thread goes on than the one that moved last."""
        return sum(one.thread != other.thread for one, other in pairwise(self.moves))


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
        if answered:
            self.values[step.thread].update(answered)

    def _note(self, thread: int, access: Access) -> None:
        edge, cell = self.program.edges[access.edge], self.program.cells[access.address]
        line = edge.span.line
        if self.lines.get(thread) != line:
            self.lines[thread] = line
            self.values[thread] = {}
        if not (access.write or is_hidden(cell) or hides(edge, cell)):
            place = place_name(self.program, access.address, thread)
            self.values[thread][place] = shown_value(self.program, access.address, access.value)

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
    comes after a failure, except after an assertion that a search was not asked to look at.
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
        if told is not None and number % TELLING == 0:
            told(number)
        state, last = step.state, step
        if number <= half:
            head.append(make_row(program, number, move, step, before))
        else:
            tail.append((number, move, step, before))
    rows = head + [make_row(program, *told) for told in tail]
    return Replay(state, rows, number, values, last)
