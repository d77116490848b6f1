"""Draw programs: the control-flow automata in Graphviz's language, one cluster for each thread."""

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
from mazurka.ir.serialize import FORMAT

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip
SHAPES = {Mode.VISIBLE: "circle", Mode.ATOMIC: "box", Mode.MERGED: "point"}
SPECIAL = {FINISHED: "finished", WRONG: "wrong", IDLE: "idle"}


def to_dot(program: Program) -> str:
    """Return the text of a graph that `dot` can draw."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield f"digraph {quote(program.name)} {{"
    yield f"  // {FORMAT}, drawn by mazurka export"
    yield "  node [fontname=monospace fontsize=10]; edge [fontname=monospace fontsize=9];"
    for number, thread in enumerate(program.threads):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={quote(thread.name)};"
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
        yield f"    {_node(number, location)} [label={quote(name)} shape={shape}{bold}];"
    for edge in thread.edges:
        label = quote(format_edge(program, edge))
        source, target = _node(number, edge.source), _node(number, edge.target)
        yield f"    {source} -> {target} [label={label}];"


def _node(thread: int, location: int) -> str:
    return f"t{thread}_{location}"


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


def format_place(program: Program, address: Expr) -> str:
    """Write an address as the left side of an assignment."""
    match address:
        case Const(value) if 0 < value < len(program.cells):
            return program.cells[value].name
        case Element(base, index):
            start = format_place(program, base).removesuffix("[0]")
            return f"{start}[{format_expression(program, index)}]"
        case _:
            return f"*({format_expression(program, address)})"


def format_expression(program: Program, expr: Expr) -> str:
    match expr:
        case Const(value):
            return str(value)
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
