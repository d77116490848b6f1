"""One step of a thread, told for people: where it is in the source, and what it did."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.program import PLAIN_KINDS, Kind, Program, Role
from mazurka.report.places import (
    STATUS,
    SYNCHRONIZING,
    Shown,
    is_hidden,
    object_name,
    shown_value,
    source_line,
)
from mazurka.stateful.strategy import Move

OPERATION = re.compile(
    r"(?P<verb>acquire|release|try to acquire|wait at|wake up at|notify_all|notify|wait for"
    r"|arrive at|leave|join|put into|get from|set|clear|task_done|wait for the tasks of)"
    r"( .+?)?(?P<tail> to read| to write| \(read\)| \(write\))?"
)
"""An operation's text: a verb, the object as the source calls it, and sometimes a manner."""


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
    failing: tuple[int, str] | None = None
    """Line and source of the failure, where the step passes other lines before it."""

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
        failing=failing_line(program, step),
    )


def failing_line(program: Program, step: Step) -> tuple[int, str] | None:
    if step.fault is None or step.fault.span.line == program.edges[step.edges[0]].span.line:
        return None
    return step.fault.span.line, source_line(program, step.fault.span)


def operation_text(program: Program, step: Step, before: State) -> str:
    """What the step does, with the object it really does it to: an alias is looked through."""
    edge = program.edges[step.edges[0]]
    text = edge.text or str(edge.kind)
    if edge.subject is not None:
        address = Interpreter(program).value(before, step.thread, edge.subject)
        if address is not None and 0 < address < len(program.cells):
            text = with_object(text, object_name(program, address, text))
    if edge.kind is Kind.CREATE:
        text = f"create {', '.join(created(program, step)) or 'a thread'}"
    if edge.kind is Kind.TRY_ACQUIRE:
        text += ": got it" if step.footprint_writes else ": not free"
    return text


def created(program: Program, step: Step) -> list[str]:
    """The threads that a step has started: it has written their program counters."""
    return [
        thread.name
        for number, thread in enumerate(program.threads)
        if thread.counter in step.footprint_writes and number != step.thread
    ]


def with_object(text: str, name: str) -> str:
    """Name the object in an operation's text."""
    match = OPERATION.fullmatch(text)
    if match is not None:
        return f"{match['verb']} {name}{match['tail'] or ''}"
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
    one place the last counts.  Local steps on other lines that were merged into the step are left
    out: a loop variable's next value beside the loop's body only confuses.
    """
    reads: dict[str, Shown] = {}
    writes: dict[str, Shown] = {}
    own: dict[str, Shown] = {}
    written: set[int] = set()
    line = program.edges[step.edges[0]].span.line
    for access in step.accesses:
        cell = program.cells[access.address]
        edge = program.edges[access.edge]
        value = shown_value(program, access.address, access.value)
        if access.write:
            written.add(access.address)
        if is_hidden(cell) and cell.role is not Role.COUNTER:
            continue
        place = place_name(program, access.address, step.thread)
        if cell.owner == step.thread:
            if access.write and (edge.span.line == line or edge.atomic):
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
    if cell.role is Role.SYNC and cell.name.endswith(STATUS):
        return cell.name.removesuffix(STATUS)
    if cell.owner is None or cell.owner == thread:
        return cell.name
    return f"{program.threads[cell.owner].name}.{cell.name}"
