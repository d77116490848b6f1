"""Functions of the compiler that work on numbers: bits, bytes, and arithmetic that tells whether it
overflows."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.arithmetic import complement, compute, convert_number, turn_bytes
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import viewed_target_of
from mazurka.frontend.c.lowering import BUILTINS, CLowering
from mazurka.frontend.c.types import CType, IntegerType, bare
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, both, conditional
from mazurka.ir.expressions import ONE, ZERO, Const, Expr
from mazurka.ir.program import Check, Fault, Kind

BOOL = IntegerType("_Bool", 8, False, True)
_LONG = IntegerType("long", 64, True)
_WORD = IntegerType("unsigned long", 64, False)


# --- bits and bytes ------------------------------------------------------------------------------


def _held(low: CLowering, node: tree.Builtin, expr: Expr, type_: CType) -> Expr:
    return low.hold(expr, node.span, type_)


def _argument(low: CLowering, node: tree.Builtin) -> tuple[Expr, IntegerType]:
    """The argument as a number of the unsigned type that is as wide."""
    value = low.scalar(node.arguments[0])
    kind = bare(value.type)
    assert isinstance(kind, IntegerType)
    unsigned = IntegerType(kind.name, kind.bits, False)
    return _held(low, node, convert_number(value.expr, kind, unsigned), unsigned), unsigned


def _count_bits(low: CLowering, node: tree.Builtin, value: Expr, type_: IntegerType) -> Expr:
    """How many bits are set: sums of 2, 4 and 8 bits side by side, and then of all bytes."""

    def mask(byte: int) -> Const:
        number = int.from_bytes(bytes([byte]) * (type_.bits // 8), "little")
        return Const(number - (1 << 64) if number >= 1 << 63 else number)

    def shifted(expr: Expr, by: int) -> Expr:
        return compute(">>", expr, Const(by), type_)

    pairs = compute("&", shifted(value, 1), mask(0x55), type_)
    value = _held(low, node, compute("-", value, pairs, type_), type_)
    upper = compute("&", shifted(value, 2), mask(0x33), type_)
    value = compute("+", compute("&", value, mask(0x33), type_), upper, type_)
    value = _held(low, node, value, type_)
    value = compute("&", compute("+", value, shifted(value, 4), type_), mask(0x0F), type_)
    return shifted(compute("*", value, mask(1), type_), type_.bits - 8)


def _popcount(low: CLowering, node: tree.Builtin) -> Scalar:
    return Scalar(INT, _count_bits(low, node, *_argument(low, node)))


def _parity(low: CLowering, node: tree.Builtin) -> Scalar:
    return Scalar(INT, binary("and", _popcount(low, node).expr, ONE))


def _refuse_zero(low: CLowering, node: tree.Builtin, value: Expr) -> None:
    """Zero has neither a first nor a last bit: the result has no meaning."""
    if not isinstance(value, Const) or value.value == 0:
        check = Check(binary("ne", value, ZERO), Fault.EXCEPTION, f"`{node.text}`: of 0")
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,))


def _ctz(low: CLowering, node: tree.Builtin) -> Scalar:
    value, type_ = _argument(low, node)
    _refuse_zero(low, node, value)
    return Scalar(INT, _count_below(low, node, value, type_))


def _count_below(low: CLowering, node: tree.Builtin, value: Expr, type_: IntegerType) -> Expr:
    """How many zeros are behind the last bit that is set."""
    less = compute("-", value, ONE, type_)
    below = compute("&", complement(value, type_), less, type_)
    return _count_bits(low, node, _held(low, node, below, type_), type_)


def _ffs(low: CLowering, node: tree.Builtin) -> Scalar:
    value, type_ = _argument(low, node)
    position = compute("+", _count_below(low, node, value, type_), ONE, INT)
    return Scalar(INT, conditional(binary("eq", value, ZERO), ZERO, position))


def _clz(low: CLowering, node: tree.Builtin) -> Scalar:
    value, type_ = _argument(low, node)
    _refuse_zero(low, node, value)
    by = 1
    while by < type_.bits:
        smeared = compute("|", value, compute(">>", value, Const(by), type_), type_)
        value, by = _held(low, node, smeared, type_), 2 * by
    return Scalar(INT, compute("-", Const(type_.bits), _count_bits(low, node, value, type_), INT))


def _bswap(low: CLowering, node: tree.Builtin) -> Scalar:
    value, type_ = _argument(low, node)
    return Scalar(bare(node.type), turn_bytes(value, type_))


def _register_bits() -> None:
    for name, handle in (
        ("popcount", _popcount), ("parity", _parity), ("ctz", _ctz), ("clz", _clz), ("ffs", _ffs),
    ):  # fmt: skip
        for suffix in ("", "l", "ll"):
            BUILTINS[f"__builtin_{name}{suffix}"] = handle
    for bits in (16, 32, 64):
        BUILTINS[f"__builtin_bswap{bits}"] = _bswap


_register_bits()


# --- arithmetic that tells whether it overflows --------------------------------------------------


def _with_overflow(operator: str) -> Callable[[CLowering, tree.Builtin], Scalar]:
    def handle(low: CLowering, node: tree.Builtin) -> Scalar:
        first, second = (low.scalar(each) for each in node.arguments[:2])
        first, second = (low.hold_value(each, node.span) for each in (first, second))
        target = viewed_target_of(low, node.arguments[2])
        kind = bare(target.type) if target is not None else None
        if target is None or not isinstance(kind, IntegerType):
            raise low.refuse(node, f"`{node.text}`: the result is no integer")
        if all(_bits(each) <= 32 for each in (first, second)):
            value, wrong = _compute_exactly(operator, first, second, kind)
        else:
            value, wrong = _compute_wide(low, node, operator, first, second, kind)
        wrong = low.hold(wrong, node.span, BOOL)
        write(low, target, Scalar(kind, low.hold(value, node.span, kind)), node.span)
        return Scalar(BOOL, wrong)

    return handle


def _bits(value: Scalar) -> int:
    kind = bare(value.type)
    return kind.bits if isinstance(kind, IntegerType) else 64


def _compute_exactly(
    operator: str, left: Scalar, right: Scalar, kind: IntegerType
) -> tuple[Expr, Expr]:
    """The result of narrow operands, which 64 bits can hold."""
    unsigned = operator == "*" and not any(_is_signed(each) for each in (left, right))
    exact = compute(operator, left.expr, right.expr, _WORD if unsigned else _LONG)
    value = convert_number(exact, _WORD, kind)
    if kind.bits < 64:
        return value, binary("ne", value, exact)
    fits = (unsigned and not kind.signed) or (not unsigned and kind.signed)
    return value, ZERO if fits else binary("lt", exact, ZERO)


def _is_signed(value: Scalar) -> bool:
    kind = bare(value.type)
    return isinstance(kind, IntegerType) and kind.signed


def _compute_wide(
    low: CLowering,
    node: tree.Builtin,
    operator: str,
    left: Scalar,
    right: Scalar,
    kind: IntegerType,
) -> tuple[Expr, Expr]:
    """The result where all are numbers of one type of 64 bits."""
    if kind.bits < 64 or not all(_belongs(each, kind) for each in (left, right)):
        raise low.refuse(
            node, f"`{node.text}`: give all three one type; numbers of 64 bits are not mixed"
        )
    a, b = left.expr, right.expr
    value = low.hold(compute(operator, a, b, kind), node.span, kind)
    if operator == "*":
        back = compute("/", value, a, kind)
        wrong = both(binary("ne", a, ZERO), binary("ne", back, b))
        if kind.signed:
            lowest = binary("eq", b, Const(-(1 << 63)))
            wrong = conditional(binary("eq", a, Const(-1)), lowest, wrong)
    elif not kind.signed:
        wrong = binary("ult", value, a) if operator == "+" else binary("ult", a, b)
    else:
        other = value if operator == "+" else a
        signs = binary("and", binary("xor", a, value), binary("xor", b, other))
        wrong = binary("lt", signs, ZERO)
    return value, wrong


def _belongs(value: Scalar, kind: IntegerType) -> bool:
    """Whether a number is surely one of a type of 64 bits."""
    if value.constant is not None and _bits(value) <= 32:
        return kind.signed or value.constant >= 0
    inner = bare(value.type)
    if not isinstance(inner, IntegerType):
        return False
    if inner.bits >= 64:
        return inner.signed == kind.signed
    return kind.signed or not inner.signed


def _register_overflow() -> None:
    for word, operator in (("add", "+"), ("sub", "-"), ("mul", "*")):
        handle = _with_overflow(operator)
        BUILTINS[f"__builtin_{word}_overflow"] = handle
        for sign in ("s", "u"):
            for suffix in ("", "l", "ll"):
                BUILTINS[f"__builtin_{sign}{word}{suffix}_overflow"] = handle


_register_overflow()
