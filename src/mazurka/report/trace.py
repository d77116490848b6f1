"""From a schedule to a story: the steps of a counterexample, as the interpreter replays them.

Every violation that a search finds comes through here before anyone sees it.  A schedule that
the reference interpreter does not confirm raises `ReplayMismatch`; it is never shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mazurka.ir.interpreter import Access, Interpreter, State, Step
from mazurka.ir.program import PLAIN_KINDS, Kind, Program, Role
from mazurka.report.places import (
    SYNCHRONIZING,
    Shown,
    is_hidden,
    object_name,
    shown_value,
    source_line,
)
from mazurka.stateful.strategy import Move

KEPT_ROWS = 20_000
"""Of a longer trace only the beginning and the end are told, half of this number each."""


class ReplayMismatch(Exception):  # noqa: N818 - named for what happened
    """The interpreter does not confirm a violation: an error in Mazurka, not in the input."""


@dataclass(frozen=True)
class Row:
    """One step of one thread."""

    number: int
    thread: int
    name: str
    file: str
    line: int
    source: str
    operation: str
    synchronizes: bool
    reads: dict[str, Shown] = field(default_factory=dict)
    writes: dict[str, Shown] = field(default_factory=dict)
    locals: dict[str, Shown] = field(default_factory=dict)
    choice: int | None = None
    quiet: frozenset[str] = frozenset()
    """Places that are parts of locks and the like; the operation's text says it better."""
    lines: tuple[int, ...] = ()
    """All lines that the step passes, where they are more than one."""
    failed: bool = False

    def to_json(self) -> dict[str, object]:
        return {
            "thread": self.name,
            "file": self.file,
            "line": self.line,
            "source": self.source,
            "operation": self.operation,
            "reads": self.reads,
            "writes": self.writes,
            "locals": self.locals,
            "choice": self.choice,
        }


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
    rows: tuple[Row, ...]
    omitted: int = 0
    ending: tuple[Standing, ...] = ()
    collisions: tuple[Collision, ...] = ()
    racing: tuple[Move, Move] | None = None

    @property
    def switches(self) -> int:
        """How often another thread goes on than the one that moved last."""
        pairs = zip(self.moves, self.moves[1:], strict=False)
        return sum(before.thread != after.thread for before, after in pairs)


def row_of(program: Program, number: int, move: Move, step: Step, before: State) -> Row:
    """Tell one step that happened in the state `before`."""
    first = program.edges[step.edges[0]]
    lines = tuple(dict.fromkeys(program.edges[edge].span.line for edge in step.edges))
    reads, writes, own = effects(program, step)
    choosing = any(program.edges[edge].choices > 1 for edge in step.edges)
    return Row(
        number=number,
        thread=step.thread,
        name=program.threads[step.thread].name,
        file=first.span.file,
        line=first.span.line,
        source=source_line(program, first.span),
        operation=operation_text(program, step, before),
        synchronizes=first.kind not in PLAIN_KINDS and first.kind is not Kind.ATOMIC,
        reads=reads,
        writes=writes,
        locals=own,
        choice=move.choice if choosing else None,
        quiet=quiet_places(program, step),
        lines=lines if len(lines) > 1 else (),
        failed=step.fault is not None,
    )


def operation_text(program: Program, step: Step, before: State) -> str:
    """What the step does, with the object it really does it to: an alias is looked through."""
    edge = program.edges[step.edges[0]]
    text = edge.text or str(edge.kind)
    if edge.subject is not None:
        address = Interpreter(program).value(before, step.thread, edge.subject)
        if address is not None and 0 < address < len(program.cells):
            text = with_object(text, object_name(program, address, text))
    if edge.kind is Kind.TRY_ACQUIRE:
        text += ": got it" if step.footprint_writes else ": not free"
    return text


def with_object(text: str, name: str) -> str:
    """Name the object in an operation's text."""
    for verb in ("acquire", "release", "try to acquire"):
        if text.startswith(f"{verb} ") or text == verb:
            return f"{verb} {name}"
    return text if name in text else f"{text} ({name})"


def quiet_places(program: Program, step: Step) -> frozenset[str]:
    return frozenset(
        place_name(program, access.address, step.thread)
        for access in step.accesses
        if program.cells[access.address].role in SYNCHRONIZING
    )


def effects(
    program: Program, step: Step
) -> tuple[dict[str, Shown], dict[str, Shown], dict[str, Shown]]:
    """What a step read from others, what it wrote for others, and what it wrote for itself.

    A read counts where the step has not written the place itself before; of several writes to
    one place the last counts.
    """
    reads: dict[str, Shown] = {}
    writes: dict[str, Shown] = {}
    own: dict[str, Shown] = {}
    written: set[int] = set()
    for access in step.accesses:
        cell = program.cells[access.address]
        value = shown_value(program, access.address, access.value)
        if access.write:
            written.add(access.address)
        if is_hidden(cell) and cell.role is not Role.COUNTER:
            continue
        place = place_name(program, access.address, step.thread)
        if cell.owner == step.thread:
            if access.write and cell.role is not Role.COUNTER:
                own[place] = value
        elif access.write:
            writes[place] = value
        elif access.address not in written:
            reads.setdefault(place, value)
    return reads, writes, own


def place_name(program: Program, address: int, thread: int) -> str:
    """A cell's name; another thread's local is named after that thread too."""
    cell = program.cells[address]
    for other in program.threads:
        if other.counter == address:
            return other.name
    if cell.owner is None or cell.owner == thread:
        return cell.name
    return f"{program.threads[cell.owner].name}.{cell.name}"


class LineValues:
    """The values each thread has read on the source line it is at.

    Compound expressions are split into several steps, so the step in which an assertion fails
    may itself read nothing but temporaries; people want to see the values those came from.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: dict[int, int] = {}
        self.values: dict[int, dict[str, Shown]] = {}

    def note(self, step: Step) -> None:
        for access in step.accesses:
            self._note(step.thread, access)

    def _note(self, thread: int, access: Access) -> None:
        line = self.program.edges[access.edge].span.line
        if self.lines.get(thread) != line:
            self.lines[thread] = line
            self.values[thread] = {}
        if not access.write and not is_hidden(self.program.cells[access.address]):
            place = place_name(self.program, access.address, thread)
            self.values[thread][place] = shown_value(self.program, access.address, access.value)

    def at(self, thread: int, line: int) -> dict[str, Shown]:
        return self.values.get(thread, {}) if self.lines.get(thread) == line else {}


@dataclass
class Replay:
    """The outcome of running a schedule on the interpreter."""

    state: State
    rows: list[Row]
    omitted: int
    values: LineValues
    last: Step | None = None


def replay_steps(
    program: Program, moves: Iterable[Move]
) -> Iterator[tuple[Move, State, Step]]:
    """Take the moves one after another, each with the state it starts from.

    A move that is not possible ends in `ReplayMismatch`.
    """
    interpreter = Interpreter(program)
    state = program.initial_state()
    failed = False
    for number, move in enumerate(moves, 1):
        if failed:
            raise ReplayMismatch(f"the schedule goes on after the failure in step {number - 1}")
        if not 0 <= move.thread < len(program.threads):
            raise ReplayMismatch(f"step {number} names thread {move.thread}, which does not exist")
        step = interpreter.step(state, move.thread, move.choice)
        if not step.happened:
            name = program.threads[move.thread].name
            raise ReplayMismatch(f"step {number}: {name} cannot move ({step.outcome})")
        failed = step.fault is not None
        yield move, state, step
        state = step.state


def run_schedule(program: Program, moves: tuple[Move, ...], *, kept: int = KEPT_ROWS) -> Replay:
    """Replay a whole schedule and keep its rows, up to `kept` of them."""
    half = kept // 2
    head: list[Row] = []
    tail: deque[tuple[int, Move, Step, State]] = deque(maxlen=max(kept - half, 1))
    values = LineValues(program)
    state, last = program.initial_state(), None
    for number, (move, before, step) in enumerate(replay_steps(program, moves), 1):
        values.note(step)
        state, last = step.state, step
        if number <= half:
            head.append(row_of(program, number, move, step, before))
        else:
            tail.append((number, move, step, before))
    rows = head + [row_of(program, *told) for told in tail]
    return Replay(state, rows, len(moves) - len(rows), values, last)
