"""Arithmetic on pointers: it stays inside of one array, or is a fault."""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import (
    bound_to_runs,
    find_row,
    require_no_next_member,
    require_same_run,
)
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    CType,
    IntegerType,
    PointerType,
    VoidType,
    bare,
    is_character,
)
from mazurka.frontend.c.values import NOWHERE, Scalar
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.builder import NotStatic
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Check, Fault, Kind, Span


def difference(
    low: CLowering, left: Scalar, right: Scalar, type_: CType, node: tree.Expression
) -> Scalar:
    """How many elements are between two pointers into one array."""
    pointer = bare(left.type)
    assert isinstance(pointer, PointerType)
    left, right = (settle_bytes(low, each, node.span, node.text) for each in (left, right))
    if isinstance(pointer.target, VoidType):
        raise low.refuse(node, f"`{node.text}`: a difference in bytes is not supported")
    stride = low.machine.layouts.cells(pointer.target)
    a, b = (low.hold(each.expr, node.span, each.type) for each in (left, right))
    if a != b and low.automaton is not None:
        require_same_run(low, (a, b), pointer.target, node.span, node.text)
    return Scalar(type_, binary("div", binary("sub", a, b), Const(max(stride, 1))))


def settle_bytes(low: CLowering, pointer: Scalar, span: Span, text: str) -> Scalar:
    """The pointer as the address of a cell.

    Where it leads to a byte of another object, which is no cell, the run is left undecided."""
    if pointer.inside is None:
        return pointer
    origin, offset = pointer.inside
    layouts, kind = low.machine.layouts, bare(pointer.type)
    if offset == 0:
        return Scalar(pointer.type, pointer.expr)
    if origin == VOID:
        raise UnsupportedError.at(span, f"`{text}` makes a pointer of an offset")
    assert isinstance(kind, PointerType)
    cell = layouts.cell_at(origin, offset)
    wanted = layouts.classes(kind.target)
    if cell is not None and wanted == layouts.classes(origin)[cell : cell + 1]:
        return Scalar(pointer.type, binary("add", pointer.expr, Const(cell)))
    message = f"`{text}` leads to a byte of {origin}, which is not modelled"
    if low.automaton is None:
        raise UnsupportedError.at(span, message)
    low.step(Kind.LOCAL, span, text, operations=(Check(ZERO, Fault.BOUND, message),))
    return Scalar(pointer.type, Const(NOWHERE))


FARTHEST = 1 << 32
"""No array has so many elements."""


def _limit(low: CLowering, index: Scalar, node: tree.Expression) -> Scalar:
    """An index so small that addresses can be computed with it; larger ones leave every array."""
    inner = bare(index.type)
    if index.constant is not None or not isinstance(inner, IntegerType) or inner.bits < 64:
        return index
    held = low.hold(index.expr, node.span, index.type)
    message = f"`{node.text}` leaves the array that it points into"
    checks = (
        Check(binary("ge", held, Const(-FARTHEST)), Fault.MEMORY, message),
        Check(binary("le", held, Const(FARTHEST)), Fault.MEMORY, message),
    )
    low.step(Kind.LOCAL, node.span, node.text, operations=checks)
    return Scalar(index.type, held)


def move_pointer(low: CLowering, pointer: Scalar, index: Scalar, node: tree.Expression) -> Scalar:
    """A pointer so many elements further on; it must stay inside of its array."""
    kind = bare(pointer.type)
    assert isinstance(kind, PointerType)
    known = index.constant
    if pointer.inside is not None and (is_character(kind.target) or kind.target == VOID):
        if known is not None:
            origin, offset = pointer.inside
            return Scalar(pointer.type, pointer.expr, inside=(origin, offset + known))
        pointer = settle_bytes(low, pointer, node.span, node.text)
    if known == 0:
        return pointer
    if isinstance(kind.target, VoidType):
        raise low.refuse(
            node, f"`{node.text}` moves a `void *`; convert it to a pointer to its type first"
        )
    stride = low.machine.layouts.cells(kind.target)
    if stride == 0:
        if isinstance(bare(kind.target), ArrayType):
            reason = "the length of the inner arrays is found at run time, which is not supported"
            raise low.refuse(node, f"`{node.text}`: {reason}; use an array of one dimension")
        raise low.refuse(node, f"`{node.text}` moves a pointer to something of unknown size")
    base = low.hold(pointer.expr, node.span, pointer.type)
    index = _limit(low, index, node)
    moved = binary("add", base, binary("mul", index.expr, Const(stride)))
    if low.automaton is None:
        return Scalar(pointer.type, _move_before_start(low, base, moved, kind.target, node))
    require_same_run(low, (base, moved), kind.target, node.span, node.text)
    require_no_next_member(low, base, moved, kind.target, node.span, node.text)
    bounded = bound_to_runs(low, base, moved, kind.target)
    return Scalar(pointer.type, low.hold(bounded, node.span, pointer.type))


def _move_before_start(
    low: CLowering, base: Expr, moved: Expr, target: CType, node: tree.Expression
) -> Expr:
    """The address that `array + 2` is in the initializer of a variable with static storage."""
    if not (isinstance(base, Const) and isinstance(moved, Const)):
        raise NotStatic
    row = find_row(low.machine, base.value, target)
    if row is None or not row.start <= moved.value <= row.end:
        raise low.refuse(node, f"`{node.text}` leaves the array that it points into")
    if row.single:
        raise low.refuse(node, f"`{node.text}` points behind a member that is no array")
    if moved.value == row.end:
        low.machine.found.moved = True
    return moved
