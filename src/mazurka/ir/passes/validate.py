"""Check that a program is well formed, so that passes and searches can rely on it.

Front ends produce well-formed programs; a program read from a file may not be.  Each error
names the thread, the edge and its place in the source.
"""

from __future__ import annotations

from mazurka.errors import MazurkaError
from mazurka.ir.expressions import (
    BINARY_OPERATORS,
    UNARY_OPERATORS,
    Binary,
    Const,
    Convert,
    Element,
    Expr,
    Unary,
    walk,
)
from mazurka.ir.program import (
    DECLARED,
    FIRST_LOCATION,
    IDLE,
    Declaration,
    Edge,
    Kind,
    Location,
    Mode,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ir.values.evaluation import evaluate
from mazurka.ir.values.footprints import Footprints
from mazurka.ir.values.intervals import LARGEST, SMALLEST

MOST_CHOICES = 2**63
ALL_NUMBERS = 2**64
"""An edge may also choose among all 64-bit numbers."""


class MalformedProgramError(MazurkaError):
    """The intermediate representation breaks one of its own rules."""


def validate(program: Program) -> None:
    """Raise `MalformedProgramError` for the first rule that is broken."""
    _validate_cells(program)
    if not program.threads:
        raise MalformedProgramError(f"{program.name} has no threads")
    footprints = Footprints(program)
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    for number, thread in enumerate(program.threads):
        _validate_counter(program, number, thread)
        for edge in thread.edges:
            _validate_edge(thread, edge)
            _validate_creation(footprints, counters, number, edge)
        for location in thread.locations:
            _validate_resets(program, number, thread, location)
        _validate_merged(footprints, number, thread)
    for address, declaration in program.declared.items():
        problem = _check_declaration(program, address, declaration)
        if problem:
            span = declaration.span
            raise MalformedProgramError(problem, file=span.file, line=span.line)


def _fail(thread: Thread, span: Span | None, message: str) -> MalformedProgramError:
    return MalformedProgramError.at(span, f"thread {thread.name}: {message}")


def _validate_cells(program: Program) -> None:
    if not program.cells or program.cells[0].low != 0 or program.cells[0].high != 0:
        raise MalformedProgramError("cell 0 must be the null cell")
    for address, cell in enumerate(program.cells):
        if cell.inferred:
            continue
        wrong = f"cell {address} ({cell.name}): {cell.low}..{cell.high}"
        if cell.low < SMALLEST or cell.high > LARGEST:
            raise MalformedProgramError(f"{wrong} needs more than 64 bits")
        if not cell.low <= cell.initial <= cell.high:
            raise MalformedProgramError(
                f"{wrong} does not contain its initial value {cell.initial}"
            )
        if cell.owner is not None and not 0 <= cell.owner < len(program.threads):
            raise MalformedProgramError(f"cell {address} ({cell.name}) belongs to no thread")


def _check_declaration(program: Program, address: int, declaration: Declaration) -> str | None:
    if not 0 < address < len(program.cells):
        return f"the declaration of cell {address}, which does not exist"
    name, lock = program.cells[address].name, declaration.lock
    if declaration.kind not in DECLARED:
        return f"{name} is declared {declaration.kind!r}; known are {', '.join(DECLARED)}"
    if program.cells[address].owner is not None:
        return f"{name} is declared {declaration.kind}, yet it is local to a thread"
    if declaration.kind != "protected":
        return None if lock is None else f"{name} is declared {declaration.kind}, with a lock"
    if lock is None:
        return f"{name} is declared protected, without a lock"
    if not 0 < lock < len(program.cells) or program.cells[lock].role is not Role.OWNER:
        return f"{name} is declared protected by cell {lock}, which is no lock"
    return None


def _validate_counter(program: Program, number: int, thread: Thread) -> None:
    if not 0 < thread.counter < len(program.cells):
        raise _fail(thread, None, "its program counter is no cell")
    cell = program.cells[thread.counter]
    if cell.role is not Role.COUNTER or cell.owner != number:
        raise _fail(thread, None, "its program counter is not a counter of its own")
    if not FIRST_LOCATION <= thread.entry < len(thread.locations):
        raise _fail(thread, None, f"entry {thread.entry} is no location")
    if not 0 <= cell.initial < len(thread.locations):
        raise _fail(thread, None, f"it starts at {cell.initial}, which is no location")
    if not thread.active and cell.initial != IDLE:
        raise _fail(thread, None, "a thread that is created later must start idle")
    for location in (0, 1, 2):
        if thread.locations[location].mode is not Mode.VISIBLE:
            raise _fail(thread, None, f"reserved location {location} must be visible")


def _validate_edge(thread: Thread, edge: Edge) -> None:
    last = len(thread.locations)
    if not FIRST_LOCATION <= edge.source < last:
        raise _fail(thread, edge.span, f"an edge leaves location {edge.source}")
    if not 0 <= edge.target < last or edge.target == IDLE:
        raise _fail(thread, edge.span, f"an edge leads to location {edge.target}")
    if not 1 <= edge.choices <= MOST_CHOICES and edge.choices != ALL_NUMBERS:
        raise _fail(thread, edge.span, f"an edge has {edge.choices} choices")
    if edge.choices > 1 and edge.kind is not Kind.CHOOSE and not edge.atomic:
        raise _fail(thread, edge.span, f"nondeterminism on an edge of kind {edge.kind}")
    for expr in edge.expressions:
        for part in walk(expr):
            problem = _check_expression(part)
            if problem:
                raise _fail(thread, edge.span, problem)


def _validate_creation(
    footprints: Footprints, counters: dict[int, int], number: int, edge: Edge
) -> None:
    """Check that a program counter is set only to create its thread, at one of its locations."""
    threads = footprints.program.threads
    for store in edge.stores:
        for created in (counters[cell] for cell in counters if _names(store.address, cell)):
            values = evaluate(store.value, footprints.lookup, edge.choices)
            last = len(threads[created].locations) - 1
            if edge.kind is not Kind.CREATE or created == number:
                problem = f"an edge of kind {edge.kind} sets the program counter of"
            elif values.low < FIRST_LOCATION or values.high > last:
                problem = "a location that does not exist is set as that of"
            else:
                continue
            raise _fail(threads[number], edge.span, f"{problem} thread {threads[created].name}")


def _names(address: Expr, cell: int) -> bool:
    """Return whether an address names a cell directly, and not through a pointer."""
    match address:
        case Const(value):
            return value == cell
        case Element(Const(base), _, length, stride):
            places = range(base, base + length * stride, stride) if stride else (base,)
            return cell in places
        case _:
            return False


def _check_expression(expr: Expr) -> str | None:
    match expr:
        case Const(value) if not SMALLEST <= value <= LARGEST:
            return f"the constant {value} needs more than 64 bits"
        case Unary(operator) if operator not in UNARY_OPERATORS:
            return f"there is no unary operator {operator!r}"
        case Binary(operator) if operator not in BINARY_OPERATORS:
            return f"there is no binary operator {operator!r}"
        case Element(_, _, length) if length < 1:
            return f"an array has length {length}"
        case Convert(_, width) if not 1 <= width <= 64:
            return f"a conversion is {width} bits wide"
        case _:
            return None


def _validate_resets(program: Program, number: int, thread: Thread, place: Location) -> None:
    if len(set(place.resets)) < len(place.resets):
        raise _fail(thread, place.span, "a location resets a cell twice")
    for address in place.resets:
        if not 0 < address < len(program.cells) or program.cells[address].owner != number:
            raise _fail(thread, place.span, f"cell {address} is reset but is not its own")
        if address == thread.counter:
            raise _fail(thread, place.span, "the program counter cannot be reset")


def _validate_merged(footprints: Footprints, number: int, thread: Thread) -> None:
    """Check that merged locations are local and deterministic, and do not form a cycle."""
    merged = {
        location for location, place in enumerate(thread.locations) if place.mode is Mode.MERGED
    }
    if not merged:
        return
    for edge in thread.edges:
        if edge.source not in merged:
            continue
        if edge.choices > 1 or not footprints.of_edge(edge).only_own(footprints.program, number):
            raise _fail(thread, edge.span, "a merged location has an edge that is not local")
        if thread.locations[edge.target].mode is Mode.ATOMIC:
            raise _fail(thread, edge.span, "an atomic section begins at a merged location")
    if thread.loop_heads(merged):
        raise _fail(thread, None, "merged locations form a cycle: a step might not end")
