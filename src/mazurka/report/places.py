"""How cells and their values are named for people."""

from __future__ import annotations

import re
from typing import TypeAlias

from mazurka.ir.program import (
    FAR,
    FINISHED,
    IDLE,
    NEAR,
    WRONG,
    Cell,
    Program,
    Role,
    Span,
    split_lines,
)

Shown: TypeAlias = int | bool | str
"""A value as it appears in a trace: a number, a truth value, or the name of something."""

PART = re.compile(
    r"\.(count|leaving|unfinished|(waiting|reader)\[\d+\]|item\[\d+\](\.\w+|\[\d+\])?)$"
)
"""How the cells of a synchronization object that come after its first one are named."""
STATUS = " status"
"""The cell that says whether a thread has ended is the thread's name with this behind it."""
END = " end"
"""The cell behind an array of C, where pointers may lead to but not be followed."""
LIFE = "life of "
"""So begins the name of the cell that says whether an object of C is alive."""
PLACE = "place of "
"""So begins the name of the cell that says where a variable of C lives whose block is entered
again."""
FREED, GONE = "freed", "out of scope"
"""What an object is whose life has ended: one of the heap, and a local variable."""
SYNCHRONIZING = frozenset({Role.OWNER, Role.SYNC, Role.COUNTER})
MOST_TRIED = 1000
"""So many choices of a thread are tried to tell what it could do."""
RESTING = {FINISHED: "finished", IDLE: "not started", WRONG: "failed"}
"""Where a thread is that goes nowhere: a location, in words."""


def is_hidden(cell: Cell) -> bool:
    """Whether a cell is a temporary, a program counter or the like, which mean nothing in the
    source: those that a front end makes up have a space in their names."""
    kept_for = cell.owner is not None or cell.role is Role.SYNC
    made_up = not cell.name or (" " in cell.name and not cell.name.endswith(STATUS))
    return cell.role is Role.COUNTER or cell.is_temporary or (kept_for and made_up)


def is_c(program: Program) -> bool:
    """Whether values are shown as in C."""
    return any(name.endswith((".c", ".i", ".h")) for name in program.sources)


def thread_name(program: Program, number: int) -> str:
    if 0 <= number < len(program.threads):
        return program.threads[number].name
    return f"thread {number}"


def shown_value(program: Program, address: int, value: int) -> Shown:
    """The value of a cell, by the cell's role."""
    match program.cells[address].role:
        case Role.BOOL:
            return bool(value) if value in (0, 1) and not is_c(program) else value
        case Role.OWNER:
            return "free" if value == 0 else thread_name(program, value - 1)
        case Role.HANDLE:
            nobody = "no thread" if is_c(program) else "None"
            return nobody if value == 0 else thread_name(program, value - 1)
        case Role.POINTER:
            return name_target(program, value)
        case Role.COUNTER:
            return RESTING.get(value, "started")
        case Role.SYNC if program.cells[address].name.endswith(STATUS):
            return ("not started", "started", "finished")[value] if 0 <= value <= 2 else value
        case _:
            return value % 2**64 if program.cells[address].unsigned else value


def name_target(program: Program, value: int) -> Shown:
    """Where a pointer leads to."""
    c = is_c(program)
    if value == 0:
        return "NULL" if c else "None"
    if 0 < value < len(program.cells):
        name = program.cells[value].name
        if not c:
            return name
        return (
            f"the end of {name.removesuffix(END)}"
            if name.endswith(END)
            else (f"&{_whole_name(program, value)}")
        )
    if c and 0 <= -1 - value < len(program.functions):
        return program.functions[-1 - value]
    if c and abs(value - FAR) <= NEAR:
        return f"(void *){value - FAR}"
    return "an invalid address" if c and value > 0 else value


def _whole_name(program: Program, address: int) -> str:
    """The structure that begins with a cell, or the cell where none does: `node` for the first
    member of `node`, which has the same address."""
    name, before = program.cells[address].name, program.cells[address - 1].name
    while "." in name:
        whole, _, member = name.rpartition(".")
        if "@" in member or before.startswith((f"{whole}.", f"{whole}[")):
            break  # `worker.node@12` is an object of its own, which a thread has made
        name = whole
    return name


def object_name(program: Program, address: int, said: str = "") -> str:
    """The synchronization object a cell belongs to: `queue` for a cell named `queue.count`.

    `said` is how the source calls it; it tells a field of a record from a part of the object.
    """
    cell = program.cells[address]
    if cell.role is Role.SYNC and cell.name.endswith(STATUS):
        return cell.name.removesuffix(STATUS)
    match = PART.search(cell.name)
    if match is None or cell.role is not Role.SYNC or said.endswith(match.group()):
        return cell.name
    return cell.name[: match.start()]


def source_line(program: Program, span: Span | None) -> str:
    """The text at a span, without its indentation; empty where the source is not known."""
    if span is None:
        return ""
    lines = split_lines(program.sources.get(span.file, ""))
    return lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""
