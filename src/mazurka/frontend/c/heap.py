"""The heap: each place that allocates has a finite number of objects (`--heap`).

What an allocated object looks like follows from the pointer that receives it, or from the `sizeof`
that measures it; otherwise it is bytes.  Objects are used again after `free` only where all others
are in use, and never so that a use of a freed object would go unnoticed in all runs.
"""

from __future__ import annotations

import re

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import allocate, size_object
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.types import (
    GAP,
    ArrayType,
    CType,
    IntegerType,
    PointerType,
    SyncType,
    VoidType,
    bare,
    size_of,
)
from mazurka.frontend.c.values import MortalRow, Scalar
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role

CHAR = IntegerType("char", 8, True)
ALLOCATORS = frozenset({"malloc", "calloc"})


def is_allocation(node: tree.Expression) -> bool:
    """Whether the expression allocates memory."""
    return (
        isinstance(node, tree.Call)
        and isinstance(node.callee, tree.FunctionName)
        and node.callee.function.name in ALLOCATORS
        and not node.callee.function.defined
    )


def allocate_for(low: CLowering, node: tree.Expression, pointer: PointerType) -> Scalar:
    """Allocate an object for a pointer of a type."""
    assert isinstance(node, tree.Call)
    assert isinstance(node.callee, tree.FunctionName)
    if not low.reachable:
        return Scalar(pointer, Const(0))
    element = pointer.target
    if isinstance(element, VoidType):
        element = _measured(node) or CHAR
    each = size_of(element)
    zeroed = node.callee.function.name == "calloc"
    size, length = 1, None
    for argument in node.arguments:
        value = low.scalar(argument)
        if value.constant is None:
            length = _find_length(low, node, each)
            break
        size *= value.constant
    if length is not None:
        return _take_sized(low, node, element, length, zeroed, pointer)
    if size <= 0 or each == 0:
        raise low.refuse(node, f"`{node.text}` allocates {size} bytes")
    if size < each or size % each:
        raise low.refuse(
            node, f"`{node.text}` allocates {size} bytes, which are no {element} (of {each})"
        )
    type_: CType = ArrayType(element, size // each)
    if not low.machine.layouts.has_cells(type_):
        raise low.refuse(node, f"`{node.text}`: a lock shares memory with something else")
    return Scalar(pointer, _take_slot(low, node, type_, zeroed).expr)


def _find_length(low: CLowering, node: tree.Call, each: int) -> Expr:
    """The number of elements in `n * sizeof(T)`, where n is found at run time."""
    factors: list[tree.Expression] = []
    waiting = list(node.arguments)
    while waiting:
        found = waiting.pop()
        while isinstance(found, tree.Conversion):
            found = found.operand
        if isinstance(found, tree.BinaryOperation) and found.operator == "*":
            waiting += [found.left, found.right]
        else:
            factors.append(found)
    sizes = [found for found in factors if static_size(found) == each]
    rest = [found for found in factors if found is not (sizes[0] if sizes else None)]
    if not sizes or len(rest) != 1:
        raise UnsupportedError.at(
            node.span,
            f"`{node.text}`: how much is allocated is not known; write n * sizeof(...), or use a"
            " constant",
        )
    return low.hold(low.scalar(rest[0]).expr, node.span, rest[0].type)


def static_size(node: tree.Expression) -> int | None:
    return node.value if isinstance(node, tree.IntegerConstant) else None


def _take_sized(
    low: CLowering,
    node: tree.Call,
    element: CType,
    length: Expr,
    zeroed: bool,
    pointer: PointerType,
) -> Scalar:
    """Take an object with room for `--heap` elements, of which some are used."""
    most = low.machine.limits.heap
    if low.loop_depth and low.repetitions(2) > 1:
        raise UnsupportedError.at(
            node.span, f"`{node.text}`: in a loop, how much is allocated must be a constant"
        )
    row = _make_row(low, node, ArrayType(element, most), 1, zeroed)
    size_object(low, Const(row.first), element, length, most, node.span, node.text)
    if row.alive:
        operations = (Assign(Const(row.alive), ONE),)
        low.step(Kind.LOCAL, node.span, node.text, operations=operations, atomic=True)
    return Scalar(pointer, Const(row.first))


def _measured(node: tree.Call) -> CType | None:
    """The type that a `sizeof` among the arguments measures."""
    for argument in node.arguments:
        for each in walk(argument):
            if isinstance(each, tree.SizeOf):
                return each.measured
    return None


MOST_AT_ONCE = 16
"""So many objects at one place of a program that frees some, at least; more only by `--heap`."""


def _take_slot(low: CLowering, node: tree.Call, type_: CType, zeroed: bool) -> Scalar:
    """Take an object of this place.

    Objects that have never been used come first.  When there are none left, one that has been freed
    is used again: the first or the second such one, a choice.  So any freed object can be left as
    it is, and in some run a pointer to it still leads to freed memory; where only one is left, the
    bound is reached."""
    span, machine = node.span, low.machine
    count, frees = 1, machine.expected.frees
    if low.loop_depth:
        count = low.repetitions(machine.limits.heap)
        if frees:
            count = min(count, max(machine.limits.heap, MOST_AT_ONCE))
    row = _make_row(low, node, type_, count, zeroed)
    if count == 1:
        if frees:
            operations = (Assign(Const(row.alive), ONE),)
            low.step(Kind.LOCAL, span, node.text, operations=operations, atomic=True)
        return Scalar(node.type, Const(row.first))
    title = f"allocated at line {span.line}"
    cell = CellDraft(title, high=count, owner=low.number, role=Role.SYNC, span=span)
    counter = Const(low.program.storage.add(cell))
    result = Const(low.take_temporary(Role.POINTER, span))
    made = Load(counter)
    fresh: tuple[Operation, ...] = (Assign(result, row.at(made)),)
    if frees:
        fresh += (Assign(row.life(made), ONE),)
    fresh += (Assign(counter, binary("add", made, ONE)),)
    message = f"more than {count} objects are allocated by `{node.text}` (--heap)"
    behind = low.label(span)
    room, full = binary("lt", made, Const(count)), binary("ge", made, Const(count))
    low.add_edge(Kind.LOCAL, span, node.text, behind, guard=room, operations=fresh, atomic=True)
    again: tuple[Operation, ...] = (Check(ZERO, Fault.BOUND, message),)
    if frees:
        again = _take_again(low, node, row, type_, zeroed, result, message)
    low.add_edge(
        Kind.LOCAL, span, node.text, behind, guard=full, operations=again, choices=1 + frees,
        atomic=True,
    )  # fmt: skip
    low.require_automaton().current = None
    low.put(behind, span)
    return Scalar(node.type, Load(result))


def _take_again(
    low: CLowering,
    node: tree.Call,
    row: MortalRow,
    type_: CType,
    zeroed: bool,
    result: Const,
    message: str,
) -> tuple[Operation, ...]:
    """Use one of the first two freed objects again, as if it were new."""
    first, second = (Const(low.take_temporary(Role.INT, node.span)) for _ in range(2))
    operations: list[Operation] = [
        Assign(first, Const(row.count)),
        Assign(second, Const(row.count)),
    ]
    for position in reversed(range(row.count)):
        alive = Load(row.life(Const(position)))
        operations += [
            Assign(second, conditional(alive, Load(second), Load(first))),
            Assign(first, conditional(alive, Load(first), Const(position))),
        ]
    operations.append(Check(binary("lt", Load(second), Const(row.count)), Fault.BOUND, message))
    operations.append(Assign(first, conditional(Choice(), Load(second), Load(first))))
    taken = Load(first)
    operations += [Assign(result, row.at(taken)), Assign(row.life(taken), ONE)]
    flags = next((f - a for a, _, f in low.machine.watched if a == row.first), 0)
    for offset, part in enumerate(low.machine.layouts.parts(type_)):
        if part.type != GAP and (zeroed or isinstance(bare(part.type), SyncType)):
            operations.append(Assign(row.at(taken, offset), ZERO))
        if flags:
            written = ONE if zeroed else ZERO
            operations.append(Assign(row.at(taken, flags + offset), written))
    return tuple(operations)


def _make_row(low: CLowering, node: tree.Call, type_: CType, count: int, zeroed: bool) -> MortalRow:
    """Make the objects of a place, each with the cell that says whether it is alive."""
    made = [_make(low, node, type_, f"{number + 1}", zeroed) for number in range(count)]
    first, alive = made[0]
    stride = made[1][0] - first if count > 1 else 1
    row = MortalRow(first, low.machine.layouts.cells(type_), alive, stride, count)
    if low.machine.expected.frees:
        low.machine.heap.append(row)
    return row


def _name_object(low: CLowering, node: tree.Call, element: CType, suffix: str) -> str:
    """What an object is called in traces: `node@12` is a `struct node` of line 12."""
    short = re.sub(r"\W+", "_", str(element).removeprefix("struct "))
    number = "" if suffix == "1" else f"#{suffix}"
    thread = "" if low.plan.active else f"{low.plan.name}."
    return f"{thread}{short}@{node.span.line}{number}"


def _make(
    low: CLowering, node: tree.Call, type_: CType, suffix: str, zeroed: bool
) -> tuple[int, int]:
    """Make an object; returns its first cell and the one that says it is alive."""
    machine = low.machine
    inner = bare(type_)
    element = inner.element if isinstance(inner, ArrayType) else inner
    name = _name_object(low, node, element, suffix)
    first = allocate(machine, name, type_, None, node.span, watched=not zeroed)
    if isinstance(inner, ArrayType) and inner.length == 1:
        for cell in machine.draft.storage.cells[first:]:
            cell.name = cell.name.replace(f"{name}[0]", name)  # no array in the source
    alive = 0
    if machine.expected.frees:
        cell = CellDraft(f"life of {name}", high=1, role=Role.SYNC, span=node.span)
        alive = machine.draft.storage.add(cell)
    return first, alive
