"""Variable arguments: `va_start` and its like.

A function that reads them is inlined, so elaboration sees the arguments of each call.  A `va_list`
is a position among them, in a cell of its own.
"""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.lowering import ArgumentList, CLowering, builtin, role_of
from mazurka.frontend.c.places_of import place_of
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    CType,
    FloatType,
    IntegerType,
    PointerType,
    bare,
)
from mazurka.frontend.c.values import Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load
from mazurka.ir.program import Assign, Fault, Kind, Role

NOTHING = Scalar(VOID, ZERO)


def _variable(node: tree.Expression) -> tree.Variable | None:
    while isinstance(node, tree.Conversion):
        node = node.operand
    return node.variable if isinstance(node, tree.Name) else None


def _address(low: CLowering, node: tree.Expression) -> Expr | None:
    """Where a `va_list` is: a variable, or what a parameter leads to that is one in the caller."""
    variable = _variable(node)
    if variable is None:
        return None
    if isinstance(variable.type, ArrayType) or not variable.parameter:
        while isinstance(node, tree.Conversion):
            node = node.operand
        return place_of(low, node).address
    known = low.known_value(variable)
    return known.expr if known is not None else None


def find_list(low: CLowering, node: tree.Expression) -> ArgumentList | None:
    """The arguments that a `va_list` goes through, where that is known."""
    address = _address(low, node)
    return low.lists.get(address) if address is not None else None


def _known_list(low: CLowering, node: tree.Builtin, argument: tree.Expression) -> ArgumentList:
    found = find_list(low, argument)
    if found is None:
        raise low.refuse(
            node, f"`{node.text}`: which arguments `{argument.text}` goes through is not known here"
        )
    return found


def _begin(
    low: CLowering, node: tree.Builtin, given: tuple[Scalar | Whole, ...], position: Expr
) -> Scalar:
    variable, address = _variable(node.arguments[0]), _address(low, node.arguments[0])
    if address is None:
        raise low.refuse(node, f"`{node.text}`: give it a variable of type `va_list`")
    key = ("position", variable, low.frame.depth)
    cell = low.frame_cells.get(key)
    if cell is None:
        title = f"position of {node.arguments[0].text}"
        draft = CellDraft(title, owner=low.number, role=Role.INT, inferred=True, span=node.span)
        cell = low.frame_cells[key] = low.program.storage.add(draft)
    low.lists[address] = ArgumentList(cell, given)
    low.step(Kind.LOCAL, node.span, node.text, operations=(Assign(Const(cell), position),))
    return NOTHING


@builtin("__builtin_va_start", "__builtin_c23_va_start", "__builtin_stdarg_start")
def _start(low: CLowering, node: tree.Builtin) -> Scalar:
    return _begin(low, node, low.frame.extra, ZERO)


@builtin("__builtin_va_copy")
def _copy(low: CLowering, node: tree.Builtin) -> Scalar:
    source = _known_list(low, node, node.arguments[1])
    return _begin(low, node, source.given, Load(Const(source.position)))


@builtin("__builtin_va_end")
def _end(low: CLowering, node: tree.Builtin) -> Scalar:
    return NOTHING


@builtin("__builtin_va_arg")
def _next(low: CLowering, node: tree.Builtin) -> Scalar:
    """The next argument: one way for each that it may be."""
    source, span = _known_list(low, node, node.arguments[0]), node.span
    position = Load(Const(source.position))
    result = low.take_temporary(role_of(bare(node.type)), span)
    end = low.label(span)
    for number, value in enumerate(source.given):
        yes, no = low.label(span), low.label(span)
        text = f"argument {number + 1} is next"
        low.split(binary("eq", position, Const(number)), span, text, yes, no)
        low.put(yes, span)
        if not isinstance(value, Scalar) or not _agree(bare(value.type), bare(node.type)):
            message = f"`{node.text}` reads an argument that is a {value.type}"
            low.fail(Fault.BOUND, message, span)
        else:
            low.set_cell(result, convert(low, value, node.type, node).expr, span)
            low.go(end, span)
        low.put(no, span)
    if low.reachable:
        low.fail(Fault.MEMORY, f"`{node.text}` reads more arguments than there are", span)
    low.put(end, span)
    if low.reachable:
        more = Assign(Const(source.position), binary("add", position, ONE))
        low.step(Kind.LOCAL, span, node.text, operations=(more,))
    return Scalar(bare(node.type), Load(Const(result)))


def _agree(given: CType, wanted: CType) -> bool:
    """Whether C lets an argument of a type be read as another (C11, 7.16.1.1)."""
    if isinstance(given, IntegerType) and isinstance(wanted, IntegerType):
        return given.bits == wanted.bits
    return any(
        isinstance(given, kind) and isinstance(wanted, kind) for kind in (PointerType, FloatType)
    )
