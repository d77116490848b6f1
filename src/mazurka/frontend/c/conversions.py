"""Convert values between types."""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.addresses import require_own_number
from mazurka.frontend.c.arithmetic import convert_number
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import note_origin, require_view
from mazurka.frontend.c.types import (
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntegerType,
    PointerType,
    RecordType,
    SyncType,
    VoidType,
    bare,
    cell_class,
    is_character,
)
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.ir.expressions import ZERO, Const, Expr, truth
from mazurka.ir.program import FAR, NEAR, Check, Fault, Kind


def convert(low: CLowering, value: Scalar, new: CType, node: tree.Expression) -> Scalar:
    """The value as one of another type."""
    new, old = bare(new), bare(value.type)
    if new == old:
        return value
    match new:
        case VoidType():
            return Scalar(new, ZERO)
        case FloatType():
            return Scalar(new, ZERO)
        case IntegerType():
            return _to_integer(low, value, old, new, node)
        case PointerType():
            return _to_pointer(low, value, old, new, node)
        case SyncType():
            if isinstance(old, IntegerType | SyncType):
                return Scalar(new, value.expr)
            if isinstance(old, PointerType):
                return Scalar(new, _to_integer(low, value, old, _WORD, node).expr)
    raise UnsupportedError.at(node.span, f"`{node.text}`: {old} cannot become {new}")


_WORD = IntegerType("long", 64, True)


def _to_integer(
    low: CLowering, value: Scalar, old: CType, new: IntegerType, node: tree.Expression
) -> Scalar:
    if isinstance(old, IntegerType):
        return Scalar(new, convert_number(value.expr, old, new))
    if isinstance(old, SyncType):
        if low.unused is not node and not new.boolean:
            require_own_number(low, value, node.span, node.text)
        return Scalar(new, convert_number(value.expr, _WORD, new))
    if isinstance(old, PointerType):
        if new.boolean:
            return Scalar(new, truth(value.expr))
        return Scalar(new, convert_number(_number_of(low, value, node), _WORD, new))
    if isinstance(old, FloatType):
        raise UnsupportedError.at(
            node.span,
            f"`{node.text}` makes an integer of a floating number, which is not followed",
        )
    raise UnsupportedError.at(node.span, f"`{node.text}`: {old} cannot become {new}")


def _number_of(low: CLowering, value: Scalar, node: tree.Expression) -> Expr:
    """The number that was made a pointer earlier; what an address would be is not modelled."""
    if value.inside is not None and value.inside[0] == VoidType():
        return Const(value.inside[1])  # an offset, `&((struct s *)0)->member`
    known = value.constant
    if known is not None:
        if known == 0:
            return ZERO
        if abs(known - FAR) <= NEAR:
            return Const(known - FAR)
        raise UnsupportedError.at(
            node.span, f"`{node.text}` makes a number of an address, which is not modelled"
        )
    held = low.hold(value.expr, node.span, value.type)
    near = both(binary("ge", held, Const(FAR - NEAR)), binary("le", held, Const(FAR + NEAR)))
    fine = either(binary("eq", held, ZERO), near)
    message = f"`{node.text}` makes a number of an address, which is not modelled"
    low.step(Kind.LOCAL, node.span, node.text, operations=(Check(fine, Fault.BOUND, message),))
    return conditional(binary("eq", held, ZERO), ZERO, binary("sub", held, Const(FAR)))


def _to_pointer(
    low: CLowering, value: Scalar, old: CType, new: PointerType, node: tree.Expression
) -> Scalar:
    if isinstance(old, SyncType):
        require_own_number(low, value, node.span, node.text)
    if isinstance(old, IntegerType | SyncType):
        return Scalar(new, _pointer_of(low, value, node))
    if isinstance(old, ArrayType):
        return Scalar(new, value.expr)
    if isinstance(old, PointerType):
        return _between_pointers(low, value, old, new, node)
    raise UnsupportedError.at(node.span, f"`{node.text}`: {old} cannot become {new}")


def _pointer_of(low: CLowering, value: Scalar, node: tree.Expression) -> Expr:
    """A pointer that leads nowhere and remembers the number."""
    known = value.constant
    if known is not None:
        if abs(known) > NEAR:
            raise UnsupportedError.at(node.span, f"`{node.text}`: this number is too large")
        return Const(FAR + known) if known else ZERO
    held = low.hold(value.expr, node.span, value.type)
    inner = bare(value.type)
    if not isinstance(inner, IntegerType) or inner.bits > 32:
        near = both(binary("ge", held, Const(-NEAR)), binary("le", held, Const(NEAR)))
        message = f"`{node.text}` makes a pointer of a large number, which is not modelled"
        low.step(Kind.LOCAL, node.span, node.text, operations=(Check(near, Fault.BOUND, message),))
    return conditional(binary("eq", held, ZERO), ZERO, binary("add", held, Const(FAR)))


def _between_pointers(
    low: CLowering, value: Scalar, old: PointerType, new: PointerType, node: tree.Expression
) -> Scalar:
    if isinstance(old.target, FunctionType) or isinstance(new.target, FunctionType):
        return Scalar(new, value.expr)
    if value.constant != 0:
        note_signs(low, old.target, "from")
        note_signs(low, new.target, "to")
    if value.inside is not None and not _is_bytes(new.target):
        return _from_bytes(low, value, new, node)
    if _is_bytes(new.target):
        inside = value.inside
        if inside is None and not isinstance(old.target, VoidType) and value.constant != 0:
            note_origin(low, old.target)
        if inside is None and not _is_bytes(old.target):
            inside = (old.target, 0)
        return Scalar(new, value.expr, inside)
    if _agree(old.target, new.target):
        return Scalar(new, value.expr)
    held = Scalar(new, low.hold(value.expr, node.span, new))
    if not isinstance(old.target, VoidType):
        note_origin(low, old.target)
    require_view(low, held, _element(new.target), node.span, node.text)
    return held


def note_signs(low: CLowering, target: CType, way: str) -> None:
    """Note of which integers there is a pointer that is converted, or the result of that."""
    for part in low.machine.layouts.parts(target):
        inner = bare(part.type)
        if isinstance(inner, IntegerType) and inner.bits < 64:
            low.machine.found.signs.add((way, inner.bits, inner.signed))


def _is_bytes(type_: CType) -> bool:
    return isinstance(type_, VoidType) or is_character(type_)


def _element(type_: CType) -> CType:
    """What a pointer must lead to at least: the first element of an array."""
    while isinstance(type_, ArrayType):
        type_ = type_.element
    return type_


def _agree(old: CType, new: CType) -> bool:
    """Whether two types differ in nothing that matters: signs, qualifiers, an array's length."""
    old, new = _element(old), _element(new)
    if isinstance(old, RecordType) or isinstance(new, RecordType):
        return bare(old) == bare(new) or (isinstance(new, RecordType) and not new.body.complete)
    return cell_class(old) == cell_class(new)


def _from_bytes(low: CLowering, value: Scalar, new: PointerType, node: tree.Expression) -> Scalar:
    """A pointer back from bytes: to a member, or to the structure around one."""
    assert value.inside is not None
    origin, offset = value.inside
    layouts = low.machine.layouts
    if offset == 0 and _agree(origin, new.target):
        return Scalar(new, value.expr)
    if isinstance(origin, VoidType):
        raise UnsupportedError.at(node.span, f"`{node.text}` makes a pointer of an offset")
    if offset >= 0:
        cell = layouts.cell_at(origin, offset)
        if cell is None:
            raise UnsupportedError.at(
                node.span, f"`{node.text}`: no member begins {offset} bytes behind"
            )
        if layouts.parts(origin)[cell].unlike:
            raise UnsupportedError.at(
                node.span, f"`{node.text}` leads into a union whose members look different"
            )
        moved = binary("add", value.expr, Const(cell))
    else:
        cell = layouts.cell_at(new.target, -offset)
        parts = layouts.classes(new.target)
        inside = layouts.classes(origin)
        if cell is None or parts[cell : cell + len(inside)] != inside:
            raise UnsupportedError.at(
                node.span, f"`{node.text}`: {new.target} has no {origin} at {-offset} bytes"
            )
        moved = binary("sub", value.expr, Const(cell))
    held = Scalar(new, low.hold(moved, node.span, new))
    note_origin(low, origin)
    require_view(low, held, _element(new.target), node.span, node.text)
    return held
