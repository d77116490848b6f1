"""One step of a thread, told for people: where it is in the source, and what it did.

A step may do several things to synchronization objects, and make choices, inside `atomic()`.  Each
is told in the words of the program (`put 1 into q`), with what came of it, where that is a value
(`get from q ➜ 1`), and not by the cells of which an object is made.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mazurka.ir.interpreter import Access, Interpreter, State, Step
from mazurka.ir.program import PLAIN_KINDS, Assign, Cell, Edge, Kind, Program, Role
from mazurka.report.constants import name_constants
from mazurka.report.places import (
    FREED,
    GONE,
    LIFE,
    PART,
    STATUS,
    SYNCHRONIZING,
    Shown,
    is_hidden,
    object_name,
    shown_value,
    source_line,
    thread_name,
)
from mazurka.report.words import listed
from mazurka.search import Move

OPERATION = re.compile(
    r"(?P<verb>acquire|release|try to acquire|wait at|wake up at|notify_all|notify|wait for"
    r"|arrive at|leave|join|put into|get from|set|clear"
    r"|offer on|take from|handed over through"
    r"|task_done|wait for the tasks of)"
    r"( .+?)?(?P<tail> to read| to write| \(read\)| \(write\)| until .+)?"
)
"""An operation's text: a verb, the object as the source calls it, and sometimes a manner."""
PUTTING, TAKING = re.compile(r"^(put|offer) (into|on)\b"), re.compile(r"^(get|take) from ")
"""How items come into queues (`put into`) and onto rendezvous channels (`offer on`), and out."""
UNTIL = " until "
"""What stands between a condition variable and what a thread waits for."""
IF = " if "
"""What stands between a queue of a `select` and the condition under which it counts."""
INSPECTION = re.compile(r".*\.(?P<method>\w+)\(\)")
CHOOSING = "choose"
WAITING = re.compile(r"\.waiting\[(\d+)\]$")
ITEM = re.compile(r"\.item\[\d+\](\.(?P<field>\w+)|\[\d+\])?$")

ANSWERING = frozenset({Kind.GET, Kind.INSPECT, Kind.CHOOSE})
"""Kinds whose outcome is a value that the source may use without giving it a name."""


@dataclass(frozen=True)
class Told:
    """One thing that a step did: its words, and the value that came of it."""

    text: str
    result: Shown | None = None
    remark: str = ""
    call: str = ""
    """The value's name in a message: `q.get()`."""

    @property
    def words(self) -> str:
        return self.text + self.remark

    @property
    def tells_result(self) -> bool:
        return self.result is not None and not self.remark

    def to_json(self) -> dict[str, object]:
        return {"operation": self.words, "result": self.result}


@dataclass(frozen=True)
class TakenEdge:
    """An edge that a step took: what it read and wrote, and the state it began in."""

    program: Program
    step: Step
    edge: Edge
    accesses: tuple[Access, ...]
    cells: State

    def own_result(self) -> Shown | None:
        """The value that the edge left in a cell of its thread."""
        for access in self.accesses:
            if access.write and self.program.cells[access.address].owner == self.step.thread:
                return shown_value(self.program, access.address, access.value)
        return None

    def written(self, pattern: re.Pattern[str]) -> dict[int, int]:
        """The cells of an object that the edge wrote, with the values they have then."""
        return {
            access.address: access.value
            for access in self.accesses
            if access.write and is_part(self.program.cells[access.address], pattern)
        }


def is_part(cell: Cell, pattern: re.Pattern[str]) -> bool:
    return cell.role is Role.SYNC and pattern.search(cell.name) is not None


def is_told(edge: Edge) -> bool:
    """Whether an edge has words of its own; others are told by what they read and write."""
    return edge.kind is Kind.CHOOSE or synchronizes(edge)


def synchronizes(edge: Edge) -> bool:
    return edge.kind not in PLAIN_KINDS and edge.kind is not Kind.ATOMIC


def find_told_edges(program: Program, step: Step, before: State) -> Iterator[TakenEdge]:
    """The edges of a step that are told; an edge may come up several times."""
    cells = list(before)
    rest = deque(step.accesses)
    for number in step.edges:
        edge = program.edges[number]
        accesses: list[Access] = []
        while rest and program.edges[rest[0].edge].source == edge.source:
            accesses.append(rest.popleft())
        if is_told(edge):
            yield TakenEdge(program, step, edge, tuple(accesses), tuple(cells))
        for access in accesses:
            if access.write:
                cells[access.address] = access.value


def tell_operations(program: Program, step: Step, before: State) -> tuple[Told, ...]:
    return tuple(_tell(taken) for taken in find_told_edges(program, step, before))


def answers(program: Program, step: Step, before: State, line: int | None) -> dict[str, Shown]:
    """The values that a step was given on a line by objects and choices, named as in the source."""
    if not any(program.edges[number].kind in ANSWERING for number in step.edges):
        return {}
    taken = (one for one in find_told_edges(program, step, before) if one.edge.span.line == line)
    told = [_tell(one) for one in taken]
    return {one.call: one.result for one in told if one.call and one.result is not None}


def hides(edge: Edge, cell: Cell) -> bool:
    """Whether an operation's words say more than the value of a cell that it used."""
    if PART.search(cell.name) is not None and cell.role is Role.SYNC:
        return is_told(edge)
    if edge.kind is Kind.INSPECT:
        return cell.role in SYNCHRONIZING
    return edge.kind in (Kind.PUT, Kind.GET, Kind.HAND_OVER) and cell.role is Role.SYNC


def _tell(taken: TakenEdge) -> Told:
    text = operation_text(taken)
    match taken.edge.kind:
        case Kind.CHOOSE:
            return Told(CHOOSING, taken.own_result(), call=taken.edge.text)
        case Kind.PUT:
            return Told(_put(taken, text))
        case Kind.GET:
            name = TAKING.sub("", text)
            return Told(text, _got(taken), call=f"{name}.get()")
        case Kind.INSPECT:
            result = taken.own_result()
            late = text.endswith(".wait()") and not result
            return Told(text, result, ": timed out" if late else "", call=text)
        case Kind.TRY_ACQUIRE:
            return Told(text, remark=": got it" if _writes_shared(taken) else ": not free")
        case Kind.WAKE if taken.written(WAITING):  # nobody else has taken it out of the queue
            return Told(text, remark=": timed out")
        case Kind.NOTIFY if taken.step.fault is None or taken.written(WAITING):
            woken = [thread_name(taken.program, number) for number in find_woken(taken)]
            return Told(text, remark=f": wakes {listed(woken) or 'nobody'}")
        case _:
            return Told(text)


def operation_text(taken: TakenEdge) -> str:
    """The edge's text, with the object it really works on: an alias is looked through."""
    edge = taken.edge
    text = edge.text or str(edge.kind)
    if edge.kind is Kind.GET:
        text, _, _ = text.partition(IF)
    if edge.kind is Kind.CREATE:
        return f"create {', '.join(_created(taken)) or 'a thread'}"
    name = find_object(taken)
    return text if name is None else name_object(text, name)


def find_object(taken: TakenEdge) -> str | None:
    """The object that the edge works on; None where it works on none."""
    program, edge = taken.program, taken.edge
    if edge.subject is None:
        return None
    address = Interpreter(program).value(taken.cells, taken.step.thread, edge.subject)
    if address is None or not 0 < address < len(program.cells):
        return None
    said, _, _ = (edge.text or str(edge.kind)).partition(IF if edge.kind is Kind.GET else UNTIL)
    return object_name(program, address, said)


def name_object(text: str, name: str) -> str:
    """Name the object in an operation's text."""
    match = OPERATION.fullmatch(text)
    if match is not None:
        return f"{match['verb']} {name}{match['tail'] or ''}"
    look = INSPECTION.fullmatch(text)
    if look is not None:
        return f"{name}.{look['method']}()"
    return text if name in text else f"{text} ({name})"


def _put(taken: TakenEdge, text: str) -> str:
    """What is put where, also where it does not fit."""
    item = find_item(taken)
    if not item:
        return text
    shown = show_item(taken.program, item) if len(item) > 1 else next(iter(item.values()))
    return PUTTING.sub(rf"\1 {shown} \2", text)


def find_item(taken: TakenEdge) -> dict[int, int]:
    """The item that an edge puts in, by the cells of its slot, also where a part does not fit."""
    fault = taken.step.fault
    if fault is None or fault.misfit is None:
        return taken.written(ITEM)
    interpreter, found = Interpreter(taken.program), dict[int, int]()
    for operation in taken.edge.operations:
        if isinstance(operation, Assign):
            cells, thread = taken.cells, taken.step.thread
            address = interpreter.value(cells, thread, operation.address)
            value = interpreter.value(cells, thread, operation.value)
            if address is None or value is None or not 0 < address < len(cells):
                continue
            if is_part(taken.program.cells[address], ITEM):
                found[address] = value
    return found or {fault.misfit.address: fault.misfit.value}


def _got(taken: TakenEdge) -> Shown | None:
    """The item that was taken out: a number, or all of its fields."""
    cells = taken.program.cells
    own = [a for a in taken.accesses if a.write and cells[a.address].owner == taken.step.thread]
    if len(own) < 2:
        return taken.own_result()
    read = [a.address for a in taken.accesses if not a.write and is_part(cells[a.address], ITEM)]
    return show_item(taken.program, dict(zip(read, (a.value for a in own), strict=False)))


def show_item(program: Program, values: dict[int, int]) -> str:
    """An item with several fields, as it is written: `(1, 2)`, `(kind=1, value=2)`."""
    shown = []
    for address, value in values.items():
        match = ITEM.search(program.cells[address].name)
        field_name = match["field"] if match is not None else None
        shown.append(str(value) if field_name is None else f"{field_name}={value}")
    return f"({', '.join(shown)})"


def name_part(cell: Cell) -> str:
    """The part of an item that a cell of a queue holds: `field n`, `part [1]`; none of a number."""
    match = ITEM.search(cell.name)
    if match is None or match[1] is None:
        return ""
    return f"field `{match['field']}`" if match["field"] else f"part {match[1]}"


def _writes_shared(taken: TakenEdge) -> bool:
    cells = taken.program.cells
    return any(access.write and cells[access.address].owner is None for access in taken.accesses)


def find_woken(taken: TakenEdge) -> list[int]:
    """Who stands in a condition's queue before a notification, and not behind it."""
    left = taken.written(WAITING)
    before = {address: taken.cells[address] for address in left}
    return sorted(_waiters(taken.program, before) - _waiters(taken.program, left))


def _waiters(program: Program, values: dict[int, int]) -> set[int]:
    """The threads in a condition's cells: numbers in a queue, or one flag a thread."""
    waiting = set()
    for address, value in values.items():
        match = WAITING.search(program.cells[address].name)
        if match is not None and value:
            is_flag = program.cells[address].high == 1
            waiting.add(int(match[1]) if is_flag else value - 1)
    return waiting


def _created(taken: TakenEdge) -> list[str]:
    """The threads that an edge has started: it has written their program counters."""
    written = {access.address for access in taken.accesses if access.write}
    return [
        thread.name
        for number, thread in enumerate(taken.program.threads)
        if thread.counter in written and number != taken.step.thread
    ]


_OWN_FOLDER = str(Path(__file__).parents[1]) + os.sep


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
    is_local: bool = False
    """Whether the step does nothing but local operations."""

    @property
    def tells_nothing(self) -> bool:
        """Whether there is nothing to see: a local step that could not be merged into another."""
        seen = self.told or self.reads or self.writes or self.locals or self.failed
        return self.is_local and not seen

    @property
    def is_inside_library(self) -> bool:
        """Whether the step is one of a library function that comes with Mazurka, as `strcmp` of
        C: what it reads and writes letter by letter says little."""
        return self.file.startswith(_OWN_FOLDER) and not self.failed

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
    is_local = all(program.edges[edge].kind is Kind.LOCAL for edge in step.edges)
    if is_local and not (reads or writes or own):
        reads = name_constants(program, first.span)
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
        is_local=is_local,
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
        if cell.name.startswith(LIFE) and access.write and access.value == 0:
            name = cell.name.removeprefix(LIFE)
            writes[name] = FREED if "@" in name else GONE
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
