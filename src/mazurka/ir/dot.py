"""Programs as pictures: the control-flow automata in graphviz's language, one cluster a thread."""

from __future__ import annotations

from collections.abc import Iterator

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
)
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    WRONG,
    Assign,
    Check,
    Edge,
    Mode,
    Program,
    Thread,
)

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip
SHAPES = {Mode.VISIBLE: "circle", Mode.ATOMIC: "box", Mode.MERGED: "point"}
SPECIAL = {FINISHED: "finished", WRONG: "wrong", IDLE: "idle"}


def to_dot(program: Program) -> str:
    """The text of a graph that `dot` can draw."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"digraph {quoted(program.name)} {{"
    yield "  node [fontname=monospace fontsize=10]; edge [fontname=monospace fontsize=9];"
    for number, thread in enumerate(program.threads):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={quoted(thread.name)};"
        yield from _cluster(program, number, thread)
        yield "  }"
    yield "}"


def _cluster(program: Program, number: int, thread: Thread) -> Iterator[str]:
    used = {location for edge in thread.edges for location in (edge.source, edge.target)}
    start = program.cells[thread.counter].initial
    for location in sorted(used | {start}):
        name = SPECIAL.get(location, str(location))
        special = location < FIRST_LOCATION
        shape = "plaintext" if special else SHAPES[thread.locations[location].mode]
        bold = " style=bold" if location == start else ""
        yield f"    {_node(number, location)} [label={quoted(name)} shape={shape}{bold}];"
    for edge in thread.edges:
        label = quoted(edge_label(program, edge))
        source, target = _node(number, edge.source), _node(number, edge.target)
        yield f"    {source} -> {target} [label={label}];"


def _node(thread: int, location: int) -> str:
    return f"t{thread}_{location}"


def edge_label(program: Program, edge: Edge) -> str:
    """Line, guard and operations, each on a line of its own."""
    parts = [f"{edge.span.line}: {edge.text or edge.kind}"]
    if edge.guard is not None:
        parts.append(f"[{expression_text(program, edge.guard)}]")
    if edge.choices > 1:
        parts.append(f"choice in 0..{edge.choices - 1}")
    for operation in edge.operations:
        match operation:
            case Assign(address, value):
                target = place_text(program, address)
                parts.append(f"{target} = {expression_text(program, value)}")
            case Check(condition, fault, _):
                parts.append(f"check {expression_text(program, condition)} ({fault})")
    return "\n".join(parts)


def place_text(program: Program, address: Expr) -> str:
    """What an address stands for, as the left side of an assignment would say it."""
    match address:
        case Const(value) if 0 < value < len(program.cells):
            return program.cells[value].name
        case Element(base, index):
            start = place_text(program, base).removesuffix("[0]")
            return f"{start}[{expression_text(program, index)}]"
        case _:
            return f"*({expression_text(program, address)})"


def expression_text(program: Program, expr: Expr) -> str:
    match expr:
        case Const(value):
            return str(value)
        case Choice():
            return "choice"
        case Load(address):
            return place_text(program, address)
        case Unary(operator, operand):
            return f"{operator}({expression_text(program, operand)})"
        case Binary(operator, left, right):
            one, other = expression_text(program, left), expression_text(program, right)
            symbol = SYMBOLS.get(operator)
            return f"({one} {symbol} {other})" if symbol else f"{operator}({one}, {other})"
        case Conditional(test, then, otherwise):
            parts = [expression_text(program, part) for part in (then, test, otherwise)]
            return f"({parts[0]} if {parts[1]} else {parts[2]})"
        case Element():
            return f"&{place_text(program, expr)}"
        case Convert(operand, width, signed):
            return f"{'int' if signed else 'uint'}{width}({expression_text(program, operand)})"


def quoted(text: str) -> str:
    """A string for dot; the input cannot break out of it."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    clean = clean.replace("\\", "\\\\").replace('"', '\\"')
    left_aligned = clean.replace("\n", "\\l") + "\\l" if "\n" in clean else clean
    return f'"{left_aligned}"'
