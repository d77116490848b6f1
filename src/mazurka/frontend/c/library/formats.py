"""`sprintf` and `snprintf`: what they write is exact for integers, characters and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.arithmetic import convert_number
from mazurka.frontend.c.calls import call
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import strip
from mazurka.frontend.c.library.variable_arguments import find_list
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.types import IntegerType, PointerType, bare
from mazurka.frontend.c.values import Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.ir.expressions import ZERO, Const, Expr, Load
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
    return Scalar(value.type, low.hold(value.expr, node.span, value.type), value.inside)


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
    known = low.scalar(argument).constant
    for data, address in low.machine.literals.items():
        if address == known:
            return data[:-1].decode("latin-1")
    raise low.refuse(node, f"`{node.text}`: the format must be a string literal")


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
    bits = {"hh": 8, "h": 16, "": 32}.get(found["length"], 64)
    signed = found["kind"] in "di"
    kind = IntegerType("number", bits, signed)
    assert isinstance(inner, IntegerType)
    number = convert_number(value.expr, inner, kind)
    negative: Expr = binary("lt", number, ZERO) if signed else ZERO
    size = conditional(negative, _negate(number), number) if signed else number
    base = 16 if found["kind"] in "xX" else 10
    zeros = "0" in found["flags"] and width > 0
    return [
        Scalar(_SIZE, size), Scalar(INT, negative), _number(base), _number(width),
        _number(ord("0" if zeros else " ")), _number(ord("A" if found["kind"] == "X" else "a")),
    ]  # fmt: skip


def _negate(number: Expr) -> Expr:
    from mazurka.frontend.c.arithmetic import opposite

    return opposite(number, _LONG)


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
        given.append(Scalar(value.type, low.hold(value.expr, node.span, value.type), value.inside))
    found = call(low, function, given, node.span)
    assert isinstance(found, Scalar)
    return _held(low, node, found)
