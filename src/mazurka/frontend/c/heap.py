"""The heap: each place that allocates has a finite number of objects (`--heap`).

What an allocated object looks like follows from the pointer that receives it, or from the `sizeof`
that measures it; otherwise it is bytes.  Objects are not used again after `free`, so that every use
of a freed object is noticed.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import allocate, size_object
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.types import (
    ArrayType,
    CType,
    IntegerType,
    PointerType,
    VoidType,
    bare,
    size_of,
)
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, Const, Expr, Load
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
        raise low.refuse(node, f"`{node.text}`: {element} is a union of unlike members")
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
    first, alive = _make(low, node, ArrayType(element, most), "1", zeroed)
    size_object(low, first, element, length, most, node.span, node.text)
    if alive:
        operations = (Assign(Const(alive), ONE),)
        low.step(Kind.LOCAL, node.span, node.text, operations=operations, atomic=True)
    return Scalar(pointer, Const(first))


def _measured(node: tree.Call) -> CType | None:
    """The type that a `sizeof` among the arguments measures."""
    for argument in node.arguments:
        for each in walk(argument):
            if isinstance(each, tree.SizeOf):
                return each.measured
    return None


def _take_slot(low: CLowering, node: tree.Call, type_: CType, zeroed: bool) -> Scalar:
    """Take the next object of this place."""
    span, machine = node.span, low.machine
    count = low.repetitions(machine.limits.heap) if low.loop_depth else 1
    firsts = [_make(low, node, type_, f"{number + 1}", zeroed) for number in range(count)]
    if count == 1:
        first, alive = firsts[0]
        if alive:
            operations = (Assign(Const(alive), ONE),)
            low.step(Kind.LOCAL, span, node.text, operations=operations, atomic=True)
        return Scalar(node.type, Const(first))
    title = f"allocated at line {span.line}"
    cell = CellDraft(title, high=count, owner=low.number, role=Role.SYNC, span=span)
    counter = Const(low.program.storage.add(cell))
    result = Const(low.take_temporary(Role.POINTER, span))
    message = f"more than {count} objects are allocated by `{node.text}` (--heap)"
    ways: list[tuple[object, tuple[Operation, ...]]] = []
    made = Load(counter)
    for position, (first, alive) in enumerate(firsts):
        steps: tuple[Operation, ...] = (
            Assign(result, Const(first)),
            Assign(counter, Const(position + 1)),
        )
        if alive:
            steps += (Assign(Const(alive), ONE),)
        ways.append((binary("eq", made, Const(position)), steps))
    ways.append((binary("eq", made, Const(count)), (Check(Const(0), Fault.BOUND, message),)))
    low.take_one_of(Kind.LOCAL, span, node.text, ways, atomic=True)  # type: ignore[arg-type]
    return Scalar(node.type, Load(result))


def _make(
    low: CLowering, node: tree.Call, type_: CType, suffix: str, zeroed: bool
) -> tuple[int, int]:
    """Make an object; returns its first cell and the one that says it is alive."""
    machine = low.machine
    inner = bare(type_)
    element = inner.element if isinstance(inner, ArrayType) else inner
    name = f"{element} of {low.plan.name}:{node.span.line}:{suffix}"
    first = allocate(machine, name, type_, None, node.span, watched=not zeroed)
    alive = 0
    if machine.expected.frees:
        cell = CellDraft(f"{name} is allocated", high=1, role=Role.SYNC, span=node.span)
        alive = machine.draft.storage.add(cell)
        machine.heap.append((first, first + machine.layouts.cells(type_), alive))
    return first, alive
