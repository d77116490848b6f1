"""Expressions: what they do, and which value they have.

Operands are evaluated from left to right, where C leaves the order open.  `&&`, `||`, `?:` and the
comma are sequence points, as in C.  Each access to shared memory is a step of its own; its result
is kept in a temporary.
"""

from __future__ import annotations

from collections.abc import Callable

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.access import read, settle, write
from mazurka.frontend.c.addresses import compare_pointers, compare_threads, is_thread
from mazurka.frontend.c.arithmetic import (
    COMPARISONS,
    complement,
    compute,
    convert_number,
    narrow,
    opposite,
)
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.heap import allocate_for, is_allocation
from mazurka.frontend.c.initializers import assign_literal, has_locks
from mazurka.frontend.c.lives import leave
from mazurka.frontend.c.lowering import LIBRARY, CLowering, expression
from mazurka.frontend.c.memory import place_text
from mazurka.frontend.c.overflow import check_overflow
from mazurka.frontend.c.places_of import enter, place_of
from mazurka.frontend.c.pointers import difference, move_pointer, settle_bytes
from mazurka.frontend.c.survey import has_effects, may_write
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    AtomicType,
    CType,
    FloatType,
    FunctionType,
    IntegerType,
    PointerType,
    SyncType,
    VoidType,
    bare,
    is_scalar,
    size_of,
)
from mazurka.frontend.c.values import NOWHERE, ObjectPlace, Scalar, Whole, find_root
from mazurka.frontend.kit.arithmetic import binary, boolean, unary
from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.program import Label
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Role, Span

INT = IntegerType("int", 32, True)


@expression(tree.IntegerConstant)
@expression(tree.SizeOf)
def _number(low: CLowering, node: tree.IntegerConstant) -> Scalar:
    inner = bare(node.type)
    if isinstance(inner, IntegerType):
        return Scalar(inner, convert_number(Const(_held(node.value)), inner, inner))
    return Scalar(node.type, Const(_held(node.value)))


@expression(tree.SizeOfVariable)
def _measure_variable(low: CLowering, node: tree.SizeOfVariable) -> Scalar:
    """As many bytes as the array got elements where it was declared."""
    place = low.pinned(tree.Name(node.span, node.variable.type, node.text, node.variable))
    array, root = bare(node.variable.type), place.root or find_root(place.address)
    rows = [row for row in low.machine.sized if row.first <= root <= row.last]
    size = size_of(array.element) if isinstance(array, ArrayType) else 0
    if not rows or not size:
        raise low.refuse(node, f"`{node.text}`: the size of `{node.variable.name}` is not known")
    length = Load(rows[0].length(ZERO))
    type_ = bare(node.type)
    assert isinstance(type_, IntegerType)
    return Scalar(node.type, compute("*", length, Const(size), type_))


def _held(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


@expression(tree.Real)
def _real(low: CLowering, node: tree.Real) -> Scalar:
    return Scalar(node.type, ZERO)


@expression(tree.FunctionName)
def _function(low: CLowering, node: tree.FunctionName) -> Scalar:
    known = node.function.defined or node.function.name in LIBRARY
    if "weak" in node.function.attributes and not known:
        return Scalar(PointerType(node.type, 64), ZERO)  # nothing else is linked
    return Scalar(PointerType(node.type, 64), Const(low.machine.number_of(node.function)))


@expression(tree.Name)
@expression(tree.Dereference)
@expression(tree.Subscript)
@expression(tree.Member)
def _read(low: CLowering, node: tree.Expression) -> Scalar | Whole:
    if isinstance(node, tree.Name):
        known = low.known_value(node.variable)
        if known is not None:
            return known
    if isinstance(node.type, FunctionType):
        if isinstance(node, tree.Dereference):  # `*f` of a function pointer is the function
            return low.scalar(node.operand)
        raise low.refuse(node, f"`{node.text}` is not supported")
    place = place_of(low, node)
    if isinstance(place.type, ArrayType):
        _refuse_unlike(low, place, node)
        return Scalar(PointerType(place.type.element, 64), place.address)
    return read(low, place, node.span)


@expression(tree.StringLiteral)
def _text(low: CLowering, node: tree.StringLiteral) -> Scalar:
    return Scalar(node.type, Const(place_text(low.machine, node)))


@expression(tree.AddressOf)
def _address(low: CLowering, node: tree.AddressOf) -> Scalar:
    operand = node.operand
    if isinstance(operand, tree.FunctionName):
        return low.scalar(operand)
    offset = _constant_offset(low, operand)
    if offset is not None:
        return Scalar(node.type, ZERO if offset == 0 else Const(offset), inside=(VOID, offset))
    if isinstance(operand, tree.Dereference):
        pointer = low.scalar(operand.operand)
        return Scalar(node.type, pointer.expr, pointer.inside)
    if isinstance(operand, tree.Subscript):
        base = operand.base
        if isinstance(base, tree.Conversion) and isinstance(base.operand.type, ArrayType):
            array = place_of(low, base.operand)
            return _address_in_array(low, operand, array, base.operand.type, node.type)
        pointer, index = low.scalar(base), low.scalar(operand.index)
        moved = move_pointer(low, pointer, index, operand)
        return Scalar(node.type, moved.expr, moved.inside)
    place = place_of(low, operand)
    _refuse_unlike(low, place, node)
    return Scalar(node.type, place.address)


def _refuse_unlike(low: CLowering, place: ObjectPlace, node: tree.Expression) -> None:
    """Pointers must not lead into a union with unlike members: what is written there ends others"""
    if place.unlike:
        raise low.refuse(
            node,
            f"`{node.text}` is the address of a member of a union whose members look different;"
            " point to the union, or use a structure",
        )


def _address_in_array(
    low: CLowering, node: tree.Subscript, array: ObjectPlace, type_: ArrayType, result: CType
) -> Scalar:
    """`&a[i]`, where i may be the number of elements."""
    _refuse_unlike(low, array, node)
    index = low.scalar(node.index)
    if not type_.length:  # how many elements there are is found at run time
        pointer = Scalar(PointerType(type_.element, 64), array.address)
        return Scalar(result, move_pointer(low, pointer, index, node).expr)
    stride = low.machine.layouts.cells(type_.element)
    length = type_.length
    known = index.constant
    if known is not None and 0 <= known <= length:
        if known == length:
            low.machine.found.moved = True  # the end of the array, where no element is
        return Scalar(result, binary("add", array.address, Const(known * stride)))
    held = low.hold(index.expr, node.span, index.type)
    fine = binary("le", held, Const(length))
    message = f"`{node.text}`: the index is outside of the array"
    checks = (
        Check(binary("ge", held, ZERO), Fault.INDEX, message),
        Check(fine, Fault.INDEX, message),
    )
    low.step(Kind.LOCAL, node.span, node.text, operations=checks)
    low.machine.found.moved = True
    moved = binary("add", array.address, binary("mul", held, Const(stride)))
    return Scalar(result, moved)


def _constant_offset(low: CLowering, node: tree.Expression) -> int | None:
    """The offset in bytes of `((struct s *)0)->member`, which is no access."""
    offset = 0
    while True:
        match node:
            case tree.Member(base=base, name=name, arrow=arrow, record=record):
                way = record.find(name)
                if way is None:
                    return None
                offset += sum(each.offset for each in way) // 8
                if arrow:
                    while isinstance(base, tree.Conversion):
                        base = base.operand
                    return (
                        offset
                        if isinstance(base, tree.IntegerConstant) and base.value == 0
                        else None
                    )
                node = base
            case _:
                return None


# --- operators ---------------------------------------------------------------------------------


@expression(tree.BinaryOperation)
def _operation(low: CLowering, node: tree.BinaryOperation) -> Scalar:
    left = low.scalar(node.left)
    left = protect(low, left, node.right, node.span)
    right = low.scalar(node.right)
    return apply(low, node.operator, left, right, node.type, node.span, node.text)


def protect(low: CLowering, value: Scalar, later: tree.Expression, span: Span) -> Scalar:
    """Keep a value that mentions variables, if what is evaluated later may change them."""
    if isinstance(value.expr, Const) or not may_write(later):
        return value
    return low.hold_value(value, span)


def apply(
    low: CLowering,
    operator: str,
    left: Scalar,
    right: Scalar,
    type_: CType,
    span: Span,
    text: str,
    *,
    wraps: bool = False,
) -> Scalar:
    """Apply a binary operator to two values; a result that `wraps` around is never an overflow."""
    pointers = [isinstance(bare(each.type), PointerType) for each in (left, right)]
    if any(pointers):
        return _apply_to_pointers(low, operator, left, right, type_, span, text)
    if operator in ("==", "!=") and any(is_thread(each.type) for each in (left, right)):
        equal = compare_threads(low, left.expr, right.expr, span, text)
        return Scalar(INT, equal if operator == "==" else negate(equal))
    if isinstance(bare(left.type), FloatType) or isinstance(bare(right.type), FloatType):
        if operator in COMPARISONS:
            raise UnsupportedError.at(
                span, f"`{text}` compares floating numbers, which are not followed; use integers"
            )
        return Scalar(type_, ZERO)
    if operator in ("<<", ">>"):
        _check_shift(low, left, right, span, text)
    if operator in ("/", "%") and right.constant == 0:
        low.fail(Fault.EXCEPTION, f"`{text}` divides by zero", span)
    if not wraps:
        check_overflow(low, operator, left, right, span, text)
    expr = compute(operator, left.expr, right.expr, left.type)
    result = INT if operator in COMPARISONS else bare(type_)
    return Scalar(result, expr)


def _check_shift(low: CLowering, left: Scalar, right: Scalar, span: Span, text: str) -> None:
    """A shift by the width or more has no meaning in C."""
    inner = bare(left.type)
    width = inner.bits if isinstance(inner, IntegerType) else 64
    known = right.constant
    if known is not None and 0 <= known < width:
        return
    fine = binary("ult", right.expr, Const(width))
    message = f"`{text}` shifts by the width of the type or more"
    low.step(Kind.LOCAL, span, text, operations=(Check(fine, Fault.EXCEPTION, message),))


def require_known_pointers(
    low: CLowering, left: Scalar, right: Scalar, span: Span, text: str
) -> None:
    """Leave runs undecided that compare a pointer which was never given a value with another one:
    it is null or leads nowhere here, and might be equal to any in C."""
    if left.constant == 0 or right.constant == 0 or low.automaton is None or not low.reachable:
        return
    unknown = [each.expr for each in (left, right) if each.constant is None]
    message = f"`{text}` compares a pointer that was never given a value"
    checks = [Check(binary("ne", e, Const(NOWHERE)), Fault.BOUND, message) for e in unknown]
    if checks:
        low.step(Kind.LOCAL, span, text, operations=checks)


def compare(
    low: CLowering, operator: str, left: Scalar, right: Scalar, span: Span, text: str
) -> Expr:
    """Compare two pointers."""
    require_known_pointers(low, left, right, span, text)
    plain = compute(operator, left.expr, right.expr, IntegerType("long", 64, True))
    return compare_pointers(low, operator, left, right, plain, span, text)


def _apply_to_pointers(
    low: CLowering, operator: str, left: Scalar, right: Scalar, type_: CType, span: Span, text: str
) -> Scalar:
    if operator in COMPARISONS:
        for each in (left, right):
            if each.inside is not None and each.inside[1]:
                raise UnsupportedError.at(span, f"`{text}` compares pointers into bytes")
        return Scalar(INT, compare(low, operator, left, right, span, text))
    here = Span(span.file, span.line, span.column, span.end_column)
    node = tree.RefusedExpression(here, type_, text, "")
    if isinstance(bare(left.type), PointerType) and isinstance(bare(right.type), PointerType):
        return difference(low, left, right, type_, node)
    if isinstance(bare(right.type), PointerType):
        left, right = right, left
    if operator == "-":
        right = Scalar(right.type, unary("neg", right.expr))
    return move_pointer(low, left, right, node)


@expression(tree.PrefixOperation)
def _prefix(low: CLowering, node: tree.PrefixOperation) -> Scalar:
    if node.operator == "!":
        test = truth(low, node.operand)
        return Scalar(INT, negate(boolean(test)) if not isinstance(test, Const) else negate(test))
    value = low.scalar(node.operand)
    inner = bare(value.type)
    if isinstance(inner, FloatType):
        return value
    if not isinstance(inner, IntegerType):
        raise low.refuse(node, f"`{node.text}` is not supported")
    if node.operator == "-":
        check_overflow(low, "-", Scalar(inner, ZERO), value, node.span, node.text)
        return Scalar(inner, opposite(value.expr, inner))
    return Scalar(inner, complement(value.expr, inner)) if node.operator == "~" else value


@expression(tree.Logical)
def _logical(low: CLowering, node: tree.Logical) -> Scalar:
    checked = has_effects(node.right) or low.machine.limits.overflow
    if low.automaton is None or not checked:
        left, right = truth(low, node.left), truth(low, node.right)
        from mazurka.frontend.kit.arithmetic import both, either

        return Scalar(INT, (both if node.operator == "&&" else either)(left, right))
    result = Const(low.take_temporary(Role.INT, node.span))
    true, false, end = (low.label(node.span) for _ in range(3))
    branch_on(low, node, true, false)
    for label, value in ((true, ONE), (false, ZERO)):
        low.put(label, node.span)
        if low.reachable:
            low.step(Kind.LOCAL, node.span, "", operations=(Assign(result, value),))
            low.go(end, node.span)
    low.put(end, node.span)
    return Scalar(INT, Load(result))


def branch_on(low: CLowering, node: tree.Expression, true: Label, false: Label) -> None:
    """Go one of two ways, with the sequence points of `&&`, `||` and `!`."""
    match node:
        case tree.Logical(operator=operator, left=left, right=right):
            middle = low.label(node.span)
            if operator == "&&":
                branch_on(low, left, middle, false)
            else:
                branch_on(low, left, true, middle)
            low.put(middle, node.span)
            if low.reachable:
                branch_on(low, right, true, false)
        case tree.PrefixOperation(operator="!", operand=operand):
            branch_on(low, operand, false, true)
        case tree.Conversion(operand=operand, type=IntegerType()) if isinstance(
            operand, tree.Logical
        ):
            branch_on(low, operand, true, false)
        case _:
            test = truth(low, node)
            if low.reachable:
                low.split(test, node.span, node.text, true, false)


def truth(low: CLowering, node: tree.Expression) -> Expr:
    """The value of a condition; 0 is false."""
    value = low.scalar(node)
    if isinstance(bare(value.type), FloatType):
        raise low.refuse(node, f"`{node.text}` depends on a floating number, which is not followed")
    return value.expr


@expression(tree.Comma)
def _comma(low: CLowering, node: tree.Comma) -> Scalar | Whole:
    low.effect(node.left)
    return low.value(node.right)


@expression(tree.Ternary)
def _ternary(low: CLowering, node: tree.Ternary) -> Scalar | Whole:
    if low.automaton is None:
        return _choose_before_start(low, node)
    then, otherwise, end = (low.label(node.span) for _ in range(3))
    results: list[Scalar | Whole] = []
    cells: list[int] = []
    first: Scalar | None = None
    if node.then is None:
        first = low.scalar(node.test)
        first = low.hold_value(first, node.span)
        low.split(first.expr, node.span, node.text, then, otherwise)
    else:
        branch_on(low, node.test, then, otherwise)
    for label, side in ((then, node.then), (otherwise, node.otherwise)):
        low.put(label, node.span)
        if not low.reachable:
            continue
        if side is None:
            assert first is not None
            value: Scalar | Whole = convert(low, first, node.type, node)
        else:
            value = low.value(side)
        if not isinstance(bare(node.type), VoidType) and low.reachable:
            settle(low, value, node.span, node.text)
            if isinstance(value, Scalar):
                value = settle_bytes(low, value, node.span, node.text)
            exprs = value.exprs if isinstance(value, Whole) else (value.expr,)
            if not cells:
                role = _role(node.type)
                cells = [low.take_temporary(role, node.span) for _ in exprs]
            for cell, expr in zip(cells, exprs, strict=True):
                low.set_cell(cell, expr, node.span)
        results.append(value)
        if low.reachable:
            low.go(end, node.span)
    low.put(end, node.span)
    if isinstance(bare(node.type), VoidType) or not cells:
        return Scalar(node.type, ZERO)
    loads = tuple(Load(Const(cell)) for cell in cells)
    if not is_scalar(node.type) and not isinstance(bare(node.type), ArrayType):
        return Whole(node.type, loads)
    return Scalar(bare(node.type), loads[0])


def _choose_before_start(low: CLowering, node: tree.Ternary) -> Scalar | Whole:
    """The value of `a ? b : c` in the initializer of a variable with static storage."""
    test = low.scalar(node.test)
    if test.constant is None:
        raise NotStatic
    side = node.otherwise if test.constant == 0 else node.then
    if side is None:
        return convert(low, test, node.type, node)
    value = low.value(side)
    return convert(low, value, node.type, node) if isinstance(value, Scalar) else value


def _role(type_: CType) -> Role:
    return Role.POINTER if isinstance(bare(type_), PointerType) else Role.INT


# --- assignments -------------------------------------------------------------------------------


@expression(tree.Assignment)
def _assignment(low: CLowering, node: tree.Assignment) -> Scalar | Whole:
    if node.operator:
        return _update(low, node)
    target = node.target
    if (literal := _literal_with_locks(low, node)) is not None:
        assign_literal(low, low.pin_place(place_of(low, target), node.span), literal)
        return Scalar(VOID, ZERO)
    if has_effects(target) or may_write(node.value):
        value = low.value(node.value)
        if isinstance(value, Scalar):
            value = low.hold_value(value, node.span)
        place = place_of(low, target)
    else:
        place = place_of(low, target)
        value = low.value(node.value)
    if isinstance(value, Scalar):
        value = _narrow_to(place, convert(low, value, place.type, node.value))
        if place.shared:
            value = low.hold_value(value, node.span)
    write(low, place, value, node.span)
    own = not place.shared and isinstance(place.address, Const)
    if own and isinstance(value, Scalar) and not isinstance(value.expr, Const):
        # The variable may occur in the value, and has changed.
        value = Scalar(value.type, Load(place.address), value.inside)
    return value


def _literal_with_locks(low: CLowering, node: tree.Assignment) -> tree.CompoundLiteral | None:
    """The literal that a statement assigns to an object with locks, which cannot be read."""
    value = node.value
    while isinstance(value, tree.Conversion):
        value = value.operand
    if not isinstance(value, tree.CompoundLiteral) or low.unused is not node:
        return None
    return value if has_locks(low, value.variable.type) else None


def _narrow_to(place: ObjectPlace, value: Scalar) -> Scalar:
    """The value that an object has when it is stored there: a bit-field may be narrower."""
    inner = bare(place.type)
    if place.bits is None or not isinstance(inner, IntegerType):
        return value
    return Scalar(value.type, narrow(value.expr, place.bits, inner.signed), value.inside)


def _update(low: CLowering, node: tree.Assignment) -> Scalar:
    """`x op= y`: one read and one write, indivisible only for atomic objects."""
    right = low.scalar(node.value)
    right = low.hold_value(right, node.span)
    _, new = read_and_write(low, node.target, lambda old: _combine(low, node, old, right), node)
    return new


def _combine(low: CLowering, node: tree.Assignment, old: Scalar, right: Scalar) -> Scalar:
    if isinstance(bare(old.type), PointerType):
        step = right
        if node.operator == "-":
            step = Scalar(right.type, unary("neg", right.expr))
        return move_pointer(low, old, step, node)
    left = old
    if node.operator in ("<<", ">>"):
        common = promote(bare(old.type))
    else:
        common = usual_type(bare(old.type), bare(right.type))
        right = convert(low, right, common, node)
    left = convert(low, left, common, node)
    return apply(low, node.operator, left, right, common, node.span, node.text)


def read_and_write(
    low: CLowering,
    target: tree.Expression,
    change: Callable[[Scalar], Scalar],
    node: tree.Expression,
) -> tuple[Scalar, Scalar]:
    """Read an object, compute, and write it again; returns the old and the new value."""
    place = low.pin_place(place_of(low, target), node.span)
    atomic = isinstance(place.type, AtomicType)
    if atomic:
        low.begin_atomic(node.span)
    old = read(low, place, node.span)
    assert isinstance(old, Scalar)
    own = not place.shared and isinstance(place.address, Const)
    kept = not own or low.unused is not node
    if kept:
        old = low.hold_value(old, node.span)
    new = _narrow_to(place, convert(low, change(old), place.type, node))
    if kept:
        new = low.hold_value(new, node.span)
    write(low, place, new, node.span)
    if atomic:
        low.end_atomic(node.span)
    return old, new


@expression(tree.Increment)
def _increment(low: CLowering, node: tree.Increment) -> Scalar:
    def change(old: Scalar) -> Scalar:
        if isinstance(bare(old.type), PointerType):
            return move_pointer(low, old, Scalar(INT, Const(node.step)), node)
        common = promote(bare(old.type))
        left = convert(low, old, common, node)
        return apply(low, "+", left, Scalar(common, Const(node.step)), common, node.span, node.text)

    old, new = read_and_write(low, node.target, change, node)
    return old if node.postfix else new


def promote(type_: CType) -> CType:
    """The type in which small integers are computed."""
    if isinstance(type_, IntegerType) and (type_.bits < 32 or type_.boolean):
        return INT
    return type_


def usual_type(left: CType, right: CType) -> CType:
    """The common type of two operands (C11, 6.3.1.8)."""
    if isinstance(left, FloatType) or isinstance(right, FloatType):
        return left if isinstance(left, FloatType) else right
    left, right = promote(left), promote(right)
    if isinstance(left, SyncType):
        return right
    if not (isinstance(left, IntegerType) and isinstance(right, IntegerType)):
        return left
    if left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    return unsigned if unsigned.bits >= signed.bits else signed


# --- conversions and the rest ------------------------------------------------------------------


@expression(tree.Conversion)
def _convert(low: CLowering, node: tree.Conversion) -> Scalar | Whole:
    operand = node.operand
    if isinstance(operand.type, ArrayType) and isinstance(node.type, PointerType):
        place = place_of(low, operand)
        _refuse_unlike(low, place, node)
        return Scalar(node.type, place.address)
    if isinstance(operand.type, FunctionType):
        return Scalar(node.type, low.scalar(operand).expr)
    if isinstance(node.type, VoidType):
        low.effect(operand)
        return Scalar(VOID, ZERO)
    if isinstance(node.type, PointerType) and is_allocation(operand):
        return allocate_for(low, operand, node.type)
    if isinstance(node.type, PointerType) and isinstance(operand, tree.Call):
        low.wanted[operand] = node.type
    value = low.value(operand)
    if isinstance(value, Whole):
        return value
    return convert(low, value, node.type, node)


@expression(tree.StatementExpression)
def _statement_expression(low: CLowering, node: tree.StatementExpression) -> Scalar | Whole:
    *before, last = node.body.body or (tree.Empty(node.span),)
    if isinstance(last, tree.Guarded) and not isinstance(node.type, VoidType):
        raise low.refuse(node, "a value behind a variable with `cleanup` is not supported here")
    enter(low, node.body, node.span)
    for each in before:
        low.execute(each)
    value: Scalar | Whole = Scalar(VOID, ZERO)
    if isinstance(last, tree.Evaluate) and not isinstance(node.type, VoidType):
        value = low.value(last.expression)
        if isinstance(value, Scalar):
            value = low.hold_value(value, node.span)
    else:
        low.execute(last)
    leave(low, node.body, node.span)
    return value


@expression(tree.RefusedExpression)
def _refused(low: CLowering, node: tree.RefusedExpression) -> Scalar:
    raise low.refuse(node, node.reason)
