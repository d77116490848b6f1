"""Functions that work on elements of any type: `qsort`, `bsearch`, and copies of a length that is
found at run time."""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.calls import call_named
from mazurka.frontend.c.library.arguments import strip
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.templates import instantiate
from mazurka.frontend.c.types import VOID, ArrayType, CType, IntegerType, PointerType, bare, size_of
from mazurka.frontend.c.values import Scalar
from mazurka.ir.expressions import ZERO
from mazurka.ir.program import Fault


def element_at(low: CLowering, node: tree.Call, argument: tree.Expression) -> CType:
    """What the array that an argument leads to holds."""
    inner = strip(argument)
    if isinstance(inner, tree.Conversion) and isinstance(inner.operand.type, ArrayType):
        inner = inner.operand
    kind = bare(inner.type)
    element = kind.element if isinstance(kind, ArrayType) else kind
    if isinstance(element, PointerType) and not isinstance(kind, ArrayType):
        element = element.target
    while isinstance(element, ArrayType):
        element = element.element
    if not size_of(element) or not low.machine.layouts.cells(element):
        raise low.refuse(
            node, f"`{node.text}`: what `{argument.text}` leads to is not known; convert it to a"
            " pointer to its type first",
        )  # fmt: skip
    return element


def call_instance(
    low: CLowering,
    node: tree.Call,
    name: str,
    element: CType,
    arguments: tuple[tree.Expression, ...],
) -> Scalar:
    """Call a function of a header for elements of a type."""
    function = instantiate(low.machine.unit, name, element)
    if function is None:
        raise low.refuse(node, f"`{node.text}` is not supported in a preprocessed file")
    callee = tree.FunctionName(node.span, function.type, node.callee.text, function)
    made = tree.Call(node.span, node.type, node.text, callee, arguments)
    found = call_named(low, made, function)
    assert isinstance(found, Scalar)
    return found


def _require_size(low: CLowering, node: tree.Call, element: CType, size: tree.Expression) -> None:
    if low.scalar(size).constant != size_of(element):
        wanted = size_of(element)
        raise low.refuse(node, f"`{node.text}`: the size is not that of {element} ({wanted})")


@library("qsort")
def _qsort(low: CLowering, node: tree.Call) -> Scalar:
    base, count, size, compare = node.arguments
    element = element_at(low, node, base)
    _require_size(low, node, element, size)
    return call_instance(low, node, "__mazurka_qsort", element, (strip(base), count, compare))


@library("bsearch")
def _bsearch(low: CLowering, node: tree.Call) -> Scalar:
    key, base, count, size, compare = node.arguments
    element = element_at(low, node, base)
    _require_size(low, node, element, size)
    arguments = (key, strip(base), count, compare)
    return call_instance(low, node, "__mazurka_bsearch", element, arguments)


def is_constant(low: CLowering, node: tree.Expression) -> bool:
    """Whether the value of an expression is known here."""
    return all(
        isinstance(each, tree.IntegerConstant | tree.BinaryOperation | tree.Conversion)
        or (isinstance(each, tree.Name) and low.known_value(each.variable) is not None)
        for each in walk(node)
    )


def copy_elements(low: CLowering, node: tree.Call) -> Scalar:
    """`memcpy` and `memmove` of a number of bytes that is found at run time."""
    target, source, size = node.arguments
    element, other = (element_at(low, node, each) for each in (target, source))
    if low.machine.layouts.classes(element) != low.machine.layouts.classes(other):
        raise low.refuse(node, f"`{node.text}` copies between different types")
    arguments = (strip(target), strip(source), size)
    return call_instance(low, node, "__mazurka_copy", element, arguments)


def fill_elements(low: CLowering, node: tree.Call) -> Scalar:
    """`memset` of a number of bytes that is found at run time."""
    target, value, size = node.arguments
    element = element_at(low, node, target)
    if size_of(element) > 1 or not isinstance(bare(element), IntegerType):
        if not is_constant(low, value) or low.scalar(value).constant != 0:
            reason = "the number of bytes must be a constant, or the value 0"
            raise low.refuse(node, f"`{node.text}`: {reason}")
        return call_instance(low, node, "__mazurka_clear", element, (strip(target), size))
    return call_instance(low, node, "__mazurka_fill", element, (strip(target), value, size))


@library("__mazurka_undecided")
def _undecided(low: CLowering, node: tree.Call) -> Scalar:
    low.fail(Fault.BOUND, "the number of bytes is no whole number of elements", node.span)
    return Scalar(VOID, ZERO)
