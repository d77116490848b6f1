"""Draw programs: the control-flow automata in Graphviz's language, one cluster for each thread.

Threads that look the same are drawn once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from mazurka.ir.expressions import (
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
    rebuild,
    walk,
)
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    PLAIN_KINDS,
    WRONG,
    Assign,
    Check,
    Edge,
    Kind,
    Mode,
    Operation,
    Program,
    Role,
    split_lines,
)
from mazurka.ir.serialize import FORMAT

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip
SHAPES = {Mode.VISIBLE: "circle", Mode.ATOMIC: "box", Mode.MERGED: "point"}
SPECIAL = {FINISHED: "finished", WRONG: "wrong", IDLE: "idle"}
FONT = 'fontname="monospace"'
MOST_NAMES = 3
THIS_THREAD = Const(-(2**63))
"""Stands for the number of the thread that is drawn."""
LOOP = re.compile(r"(not \()?range\(")
"""The text of an edge that goes round or leaves a loop over numbers."""


def to_dot(program: Program) -> str:
    """Return the text of a graph that `dot` can draw."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"digraph {quote(program.name)} {{"
    yield f"  // {FORMAT}, drawn by mazurka export"
    yield f"  graph [{FONT} fontsize=11]; node [{FONT} fontsize=10]; edge [{FONT} fontsize=9];"
    for group in find_alike(program):
        number = group[0]
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={quote(_title([program.threads[each].name for each in group]))};"
        yield from _cluster(program, number)
        yield "  }"
    yield "}"


def find_alike(program: Program) -> list[list[int]]:
    """Group the threads whose automata look the same: each has its own locals, of the same names,
    and locks are held by whoever takes them."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number in range(len(program.threads)):
        drawn = (line.replace(f"t{number}_", "t_") for line in _cluster(program, number))
        groups.setdefault(tuple(drawn), []).append(number)
    return list(groups.values())


def _title(names: list[str]) -> str:
    """Name threads that are drawn once: `worker (3 times)`."""
    if len(names) == 1:
        return names[0]
    plain = {name.partition("#")[0] for name in names}
    if len(plain) == 1:
        return f"{plain.pop()} ({len(names)} times)"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _cluster(program: Program, number: int) -> Iterator[str]:
    """Draw one thread.  Labels are in the words of the source, and what happens to the cells is
    in the tooltips."""
    thread = program.threads[number]
    used = {location for edge in thread.edges for location in (edge.source, edge.target)}
    start = program.cells[thread.counter].initial
    for location in sorted(used | {start}):
        special = location < FIRST_LOCATION
        name = SPECIAL[location] if special else ""
        shape = "plaintext" if special else SHAPES[thread.locations[location].mode]
        form = "" if special else " width=0.18 height=0.18"
        bold = " style=bold peripheries=2" if location == start else ""
        yield f"    {_node(number, location)} [label={quote(name)} shape={shape}{form}{bold}];"
    for edge in thread.edges:
        label, details = quote(tell_edge(program, edge)), quote(_details(program, edge, number))
        source, target = _node(number, edge.source), _node(number, edge.target)
        yield f"    {source} -> {target} [label={label} tooltip={details}];"


def _details(program: Program, edge: Edge, number: int) -> str:
    text = format_edge(program, personalize(program, edge, number))
    for part in ("waiting", "reader"):  # one flag for each thread
        flags = [cell for cell in program.cells if cell.name.endswith(f".{part}[{number}]")]
        for cell in flags:
            if cell.role is Role.SYNC and cell.high == 1:
                mine = cell.name.removesuffix(f"[{number}]") + "[this thread]"
                text = text.replace(cell.name, mine)
    return text


def _node(thread: int, location: int) -> str:
    return f"t{thread}_{location}"


def tell_edge(program: Program, edge: Edge) -> str:
    """Return the source line's number, and what the edge does in the words of the source."""
    return f"{edge.span.line}: {_words(program, edge)}"


def _words(program: Program, edge: Edge) -> str:
    if edge.guard is not None and LOOP.match(edge.text):
        return format_condition(program, edge.guard)
    if edge.guard is not None or edge.kind not in PLAIN_KINDS | {Kind.ATOMIC}:
        return edge.text or str(edge.kind)
    named = [each for each in edge.stores if not _is_hidden(program, each.address)]
    if edge.kind is Kind.LOCAL and named and not any(map(partial(_reads_hidden, program), named)):
        return "; ".join(_format_store(program, each) for each in named)
    source = _source(program, edge)
    if not source or edge.kind in (Kind.ASSERT, Kind.ASSUME, Kind.CHOOSE):
        return edge.text or str(edge.kind)
    accessed = edge.text.startswith(("read ", "write "))
    return f"{source}  ({edge.text})" if accessed and edge.text not in source else source


def _source(program: Program, edge: Edge) -> str:
    lines = split_lines(program.sources.get(edge.span.file, ""))
    return lines[edge.span.line - 1].strip() if 0 < edge.span.line <= len(lines) else ""


def _is_hidden(program: Program, address: Expr) -> bool:
    """Whether an address is that of a temporary, which means nothing in the source."""
    match address:
        case Const(value) if 0 < value < len(program.cells):
            cell = program.cells[value]
            return cell.is_temporary or " " in cell.name
        case _:
            return False


def _reads_hidden(program: Program, store: Assign) -> bool:
    loads = (part for part in walk(store.value) if isinstance(part, Load))
    return any(_is_hidden(program, part.address) for part in loads)


def _format_store(program: Program, store: Assign) -> str:
    value = format_condition(program, store.value)
    return f"{format_place(program, store.address)} = {value}"


def format_condition(program: Program, expr: Expr) -> str:
    """Write an expression without parentheses around all of it."""
    text = format_expression(program, expr)
    return text[1:-1] if isinstance(expr, Binary | Conditional) and text[0] == "(" else text


def format_edge(program: Program, edge: Edge) -> str:
    """Return the source line, guard and operations of an edge, one per line."""
    parts = [f"{edge.span.line}: {edge.text or edge.kind}"]
    if edge.guard is not None:
        parts.append(f"[{format_expression(program, edge.guard)}]")
    if edge.choices > 1:
        parts.append(f"choice in 0..{edge.choices - 1}")
    for operation in edge.operations:
        match operation:
            case Assign(address, value):
                target = format_place(program, address)
                parts.append(f"{target} = {format_expression(program, value)}")
            case Check(condition, fault, _):
                parts.append(f"check {format_expression(program, condition)} ({fault})")
    return "\n".join(parts)


def personalize(program: Program, edge: Edge, thread: int) -> Edge:
    """Replace the thread's own number by `THIS_THREAD` where locks and conditions keep it."""

    def names(place: Expr) -> bool:
        parts = [part.value for part in walk(place) if isinstance(part, Const)]
        cells = [program.cells[part] for part in parts if 0 < part < len(program.cells)]
        roles = (Role.OWNER, Role.HANDLE)
        return any(
            cell.role in roles or (".waiting[" in cell.name and cell.high > 1) for cell in cells
        )

    def replace_number(expr: Expr) -> Expr:
        return THIS_THREAD if expr == Const(thread + 1) else expr

    def change(expr: Expr) -> Expr:
        match expr:
            case Binary("eq" | "ne" as operator, Load(place) as left, right) if names(place):
                return Binary(operator, left, replace_number(right))
            case _:
                return rebuild(expr, change)

    operations: list[Operation] = []
    for operation in edge.operations:
        if isinstance(operation, Check):
            operations.append(replace(operation, condition=change(operation.condition)))
        else:
            value = change(operation.value)
            kept = replace_number(value) if names(operation.address) else value
            operations.append(Assign(change(operation.address), kept))
    guard = None if edge.guard is None else change(edge.guard)
    return replace(edge, guard=guard, operations=tuple(operations))


def format_place(program: Program, address: Expr) -> str:
    """Write an address as the left side of an assignment."""
    match address:
        case Const(value) if 0 < value < len(program.cells):
            return _name_cell(program, value)
        case Element(base, index):
            start = format_place(program, base).removesuffix("[0]")
            return f"{start}[{format_expression(program, index)}]"
        case _:
            return f"*({format_expression(program, address)})"


def _name_cell(program: Program, address: int) -> str:
    """Name a cell; temporaries of a thread are all called the same, so they are numbered."""
    cell = program.cells[address]
    if not cell.is_temporary:
        return cell.name
    before = program.cells[1 : address + 1]
    return f"{cell.name}_{sum(one.is_temporary and one.owner == cell.owner for one in before)}"


def format_expression(program: Program, expr: Expr) -> str:
    match expr:
        case Const(value):
            return "this thread" if expr is THIS_THREAD else str(value)
        case Choice():
            return "choice"
        case Load(address):
            return format_place(program, address)
        case Unary(operator, operand):
            return f"{operator}({format_expression(program, operand)})"
        case Binary(operator, left, right):
            one, other = format_expression(program, left), format_expression(program, right)
            symbol = SYMBOLS.get(operator)
            return f"({one} {symbol} {other})" if symbol else f"{operator}({one}, {other})"
        case Conditional(test, then, otherwise):
            parts = [format_expression(program, part) for part in (then, test, otherwise)]
            return f"({parts[0]} if {parts[1]} else {parts[2]})"
        case Element():
            return f"&{format_place(program, expr)}"
        case Convert(operand, width, signed):
            return f"{'int' if signed else 'uint'}{width}({format_expression(program, operand)})"


def quote(text: str) -> str:
    """Quote and escape a string for dot."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    clean = clean.replace("\\", "\\\\").replace('"', '\\"')
    left_aligned = clean.replace("\n", "\\l") + "\\l" if "\n" in clean else clean
    return f'"{left_aligned}"'
