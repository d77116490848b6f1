"""`sprintf` and `snprintf`: what they write is exact for integers, characters and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mazurka.errors import UnsupportedError, read_number
from mazurka.frontend.c import tree
from mazurka.frontend.c.arithmetic import convert_number, opposite
from mazurka.frontend.c.calls import call
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import strip
from mazurka.frontend.c.library.variable_arguments import find_list
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.types import IntegerType, PointerType, bare
from mazurka.frontend.c.values import Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary, both, conditional
from mazurka.ir.arithmetic import wrap
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load, negate
from mazurka.ir.program import Check, Fault, Kind

_SIZE = IntegerType("unsigned long", 64, False)
_LONG = IntegerType("long", 64, True)
_DIRECTIVE = re.compile(
    r"%(?P<flags>[-0]*)(?P<width>\d*)(?P<length>hh|h|ll|l|z|j|t|)(?P<kind>[diuxXcs%])|[^%]+|%"
)


@library("sprintf", "snprintf", "vsprintf", "vsnprintf")
def _format(low: CLowering, node: tree.Call) -> Scalar:
    """Put the parts of the text together, one after the other, as functions of `stdio.h` do."""
    name = node.callee.text
    out, *rest = node.arguments
    target = _held(low, node, low.scalar(strip(out)))
    size = Scalar(_SIZE, Const(-1))
    if "n" in name.removesuffix("printf"):
        size = _held(low, node, convert(low, low.scalar(rest.pop(0)), _SIZE, node))
    text = _text_of(low, node, rest.pop(0))
    if name.startswith("v"):
        source = find_list(low, rest[0])
        if source is None:
            raise low.refuse(node, f"`{node.text}`: which arguments there are is not known here")
        message = f"`{node.text}` begins behind the first argument"
        first = Check(binary("eq", Load(Const(source.position)), ZERO), Fault.BOUND, message)
        low.step(Kind.LOCAL, node.span, node.text, operations=(first,))
        given = list(source.given)
    else:
        given = [_evaluate(low, node, each) for each in rest]
    at = Scalar(_SIZE, ZERO)
    for function, values in _list_parts(node, text, given):
        at = _call(low, node, function, [target, size, at, *values])
    end = _call(low, node, "__mazurka_print_end", [target, size, at])
    return Scalar(INT, end.expr)


def _held(low: CLowering, node: tree.Call, value: Scalar) -> Scalar:
    return low.hold_value(value, node.span)


def _evaluate(low: CLowering, node: tree.Call, argument: tree.Expression) -> Scalar | Whole:
    value = low.value(argument)
    return _held(low, node, value) if isinstance(value, Scalar) else value


def _text_of(low: CLowering, node: tree.Call, argument: tree.Expression) -> str:
    """The format, where it is known: a literal, or a parameter that is given one."""
    inner = argument
    while isinstance(inner, tree.Conversion):
        inner = inner.operand
    if isinstance(inner, tree.StringLiteral):
        return inner.data[:-1].decode("latin-1")
    text = text_given(low, low.scalar(argument))
    if text is None:
        raise low.refuse(node, f"`{node.text}`: the format must be a string literal")
    return text


Given = Scalar | str | None
"""An argument: a number or a pointer, a literal, or something else."""


def text_given(low: CLowering, value: Given) -> str | None:
    """The text that an argument leads to, where that is a literal."""
    if not isinstance(value, Scalar):
        return value
    for data, address in low.machine.literals.items():
        if address == value.constant:
            return data[:-1].decode("latin-1")
    return None


_ANY_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\d*|\*)(\.(?P<precision>-?\d*|\*))?"
    r"(?P<length>hh|h|ll|l|q|j|z|t|L|)(?P<kind>[a-zA-Z%])|[^%]+"
)
_BASES = {"d": 10, "i": 10, "u": 10, "o": 8, "x": 16, "X": 16}


def count_letters(low: CLowering, text: str | None, given: Sequence[Given]) -> tuple[Expr, bool]:
    """How many characters are written at least, and whether that is the exact number."""
    if text is None:
        return ZERO, False
    total: Expr = ZERO
    waiting, exact, at = list(given), True, 0
    while at < len(text):
        found = _ANY_DIRECTIVE.match(text, at)
        if found is None:
            return total, False
        at, kind = found.end(), found["kind"]
        if kind is None or found[0] == "%%":
            total = binary("add", total, Const(1 if kind else len(found[0])))
            continue
        length = _length_of(low, found, waiting) if exact else None
        if length is None:
            exact = False  # from here on nothing is known of which argument is meant
            nothing = kind in "sS" or found["precision"] is not None
            width = _read_width(found["width"].replace("*", ""))
            length = Const(max(width, 0 if nothing else 1))
        total = binary("add", total, length)
    return total, exact


def _read_width(digits: str) -> int:
    return min(read_number(digits or "0"), (1 << 31) - 1)


def _length_of(low: CLowering, found: re.Match[str], waiting: list[Given]) -> Expr | None:
    """Return how many characters a directive writes of the next value, where that is known."""
    width = _take_size(found["width"], waiting)
    precision = None if found["precision"] is None else _take_size(found["precision"], waiting)
    value = waiting.pop(0) if waiting else None
    kind, flags = found["kind"], found["flags"]
    limited = found["precision"] is not None
    if width is None or (limited and precision is None):
        return None
    width = binary("max", width, opposite(width, _LONG))  # one below 0 is for text on the left
    if kind == "s":
        text = None if found["length"] else text_given(low, value)
        if text is None:
            return None
        size: Expr = Const(len(text.partition("\0")[0]))
        if precision is not None:
            shorter = binary("min", size, precision)
            size = conditional(binary("lt", precision, ZERO), size, shorter)
        return binary("max", size, width)
    inner = bare(value.type) if isinstance(value, Scalar) else None
    if not isinstance(value, Scalar) or not isinstance(inner, IntegerType) or "'" in flags:
        return None
    if kind == "c":
        return None if found["length"] else binary("max", ONE, width)
    if kind not in _BASES or found["length"] in ("q", "L"):
        return None
    number, negative = _find_magnitude(found, value, inner)
    digits: Expr = ONE
    unit = _BASES[kind]
    while unit < 1 << 64:
        digits = binary("add", digits, negate(binary("ult", number, Const(wrap(unit)))))
        unit *= _BASES[kind]
    zero = binary("eq", number, ZERO)
    if kind == "o" and "#" in flags:
        digits = binary("add", digits, negate(zero))
    if precision is not None:
        empty = both(zero, binary("eq", precision, ZERO))
        if kind != "o" or "#" not in flags:
            digits = conditional(empty, ZERO, digits)
        digits = binary("max", digits, precision)
    sign: Expr = negative
    if kind in "di" and ("+" in flags or " " in flags):
        sign = ONE
    elif kind in "xX" and "#" in flags:
        sign = conditional(zero, ZERO, Const(2))
    return binary("max", binary("add", sign, digits), width)


def _take_size(digits: str, waiting: list[Given]) -> Expr | None:
    """Return the width or precision that a directive names; `*` is the next value."""
    if digits != "*":
        return Const(_read_width(digits)) if not digits.startswith("-") else Const(-1)
    value = waiting.pop(0) if waiting else None
    known = isinstance(value, Scalar) and isinstance(bare(value.type), IntegerType)
    return value.expr if known and isinstance(value, Scalar) else None


def _list_parts(
    node: tree.Call, text: str, given: list[Scalar | Whole]
) -> Iterator[tuple[str, list[Scalar]]]:
    """For each part of the text the function that writes it, with what it is given."""
    waiting = list(given)
    for found in _DIRECTIVE.finditer(text):
        kind = found["kind"]
        if found[0] == "%":
            raise UnsupportedError.at(
                node.span,
                f"`{node.text}`: of formats, %d %i %u %x %X %c %s and %% are supported, with a"
                " width, `-` and `0`",
            )
        if kind is None or kind == "%":
            for each in "%" if kind else found[0]:
                yield "__mazurka_print_letter", [_number(ord(each))]
            continue
        if not waiting:
            raise UnsupportedError.at(node.span, f"`{node.text}`: too few arguments")
        value = waiting.pop(0)
        width = int(found["width"] or 0) * (-1 if "-" in found["flags"] else 1)
        inner = bare(value.type)
        if not isinstance(value, Scalar) or isinstance(inner, PointerType) != (kind == "s"):
            raise UnsupportedError.at(node.span, f"`{node.text}`: {found[0]} does not fit {inner}")
        if kind == "s":
            yield "__mazurka_print_text", [value, _number(width)]
        elif kind == "c":
            assert isinstance(inner, IntegerType)
            if width:
                raise UnsupportedError.at(node.span, f"`{node.text}`: %c has no width here")
            letter = convert_number(value.expr, inner, IntegerType("char", 8, True))
            yield "__mazurka_print_letter", [Scalar(INT, letter)]
        else:
            yield "__mazurka_print_number", _describe(found, value, inner, width)


def _describe(found: re.Match[str], value: Scalar, inner: object, width: int) -> list[Scalar]:
    """A number as `__mazurka_print_number` is given it: magnitude, sign, base and width."""
    assert isinstance(inner, IntegerType)
    size, negative = _find_magnitude(found, value, inner)
    base = 16 if found["kind"] in "xX" else 10
    zeros = "0" in found["flags"] and width > 0
    return [
        Scalar(_SIZE, size), Scalar(INT, negative), _number(base), _number(width),
        _number(ord("0" if zeros else " ")), _number(ord("A" if found["kind"] == "X" else "a")),
    ]  # fmt: skip


def _find_magnitude(found: re.Match[str], value: Scalar, inner: IntegerType) -> tuple[Expr, Expr]:
    """Return a number without its sign, and whether it is below 0."""
    bits = {"hh": 8, "h": 16, "": 32}.get(found["length"], 64)
    signed = found["kind"] in "di"
    number = convert_number(value.expr, inner, IntegerType("number", bits, signed))
    negative: Expr = binary("lt", number, ZERO) if signed else ZERO
    size = conditional(negative, opposite(number, _LONG), number) if signed else number
    return size, negative


def _number(value: int) -> Scalar:
    return Scalar(INT, Const(value))


def _call(low: CLowering, node: tree.Call, name: str, values: list[Scalar]) -> Scalar:
    function = low.machine.unit.functions.get(name)
    if function is None or not function.defined:
        raise low.refuse(node, f"`{node.text}` is not supported in a preprocessed file")
    function.read()
    given: list[Scalar | Whole] = []
    for value, parameter in zip(values, function.parameters, strict=True):
        value = convert(low, value, parameter.type, node)
        given.append(low.hold_value(value, node.span))
    found = call(low, function, given, node.span)
    assert isinstance(found, Scalar)
    return _held(low, node, found)
