"""One step of a thread, told for people: where it is in the source, and what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import Kind, Program, Role
from mazurka.report.operations import Told, is_told, tell_operations
from mazurka.report.places import STATUS, SYNCHRONIZING, Shown, is_hidden, shown_value, source_line
from mazurka.search import Move


@dataclass(frozen=True)
class TraceRow:
    """One step of one thread."""

    number: int
    thread: int
    name: str
    file: str
    line: int
    source: str
    operation: str
    told: tuple[Told, ...] = ()
    """What it did to synchronization objects, and its choices."""
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
            "operations": [told.to_json() for told in self.told],
            "reads": self.reads,
            "writes": self.writes,
            "locals": self.locals,
            "choice": self.choice,
        }


def make_row(program: Program, number: int, move: Move, step: Step, before: State) -> TraceRow:
    """Tell one step that happened in the state `before`."""
    first = program.edges[step.edges[0]]
    lines = tuple(dict.fromkeys(program.edges[edge].span.line for edge in step.edges))
    reads, writes, own = effects(program, step)
    told = tell_operations(program, step, before)
    text = first.text or str(first.kind)
    if is_told(first) and first.kind is not Kind.CHOOSE:
        text = told[0].words
    choosing = any(program.edges[edge].choices > 1 for edge in step.edges)
    return TraceRow(
        number=number,
        thread=step.thread,
        name=program.threads[step.thread].name,
        file=first.span.file,
        line=first.span.line,
        source=source_line(program, first.span),
        operation=text,
        told=told,
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


def quiet_places(program: Program, step: Step) -> frozenset[str]:
    return frozenset(
        place_name(program, access.address, step.thread)
        for access in step.accesses
        if program.cells[access.address].role in SYNCHRONIZING
        and is_told(program.edges[access.edge])
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
