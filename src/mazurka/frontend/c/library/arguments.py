"""What functions of the library share: their arguments, and the objects these lead to."""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import pointer_checks, thread_variable
from mazurka.frontend.c.types import CType, PointerType, VoidType, bare
from mazurka.frontend.c.values import ObjectPlace, Scalar
from mazurka.frontend.kit.shapes import Reference, Shape
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Fault, Kind, Role, Span

SUCCESS = Scalar(INT, ZERO)
EBUSY, EINVAL, EDEADLK, EPERM, EAGAIN, ETIMEDOUT = 16, 22, 35, 1, 11, 110


def called_name(node: tree.Call) -> str:
    """The name of the function that is called."""
    callee = node.callee
    while isinstance(callee, tree.Conversion | tree.AddressOf | tree.Dereference):
        callee = callee.operand
    return callee.function.name if isinstance(callee, tree.FunctionName) else ""


def strip(node: tree.Expression) -> tree.Expression:
    """The expression without conversions of pointers, as far as they tell nothing of the object:
    where it begins as a `void *`, the first conversion to another pointer tells what is there."""
    chain = _conversions(node)
    return next((each for each in reversed(chain) if not _is_untyped(each)), chain[-1])


def _conversions(node: tree.Expression) -> list[tree.Expression]:
    """A pointer and what it is converted from, from the outside to the inside."""
    chain = [node]
    while isinstance(node, tree.Conversion) and isinstance(bare(node.operand.type), PointerType):
        node = node.operand
        chain.append(node)
    return chain


def _target_type(node: tree.Expression) -> CType:
    kind = bare(node.type)
    return kind.target if isinstance(kind, PointerType) else VoidType()


def _is_untyped(node: tree.Expression) -> bool:
    return isinstance(bare(_target_type(node)), VoidType)


def target_of(low: CLowering, node: tree.Expression) -> ObjectPlace | None:
    """The object that a pointer argument leads to; None for a null pointer."""
    return _find_object(low, strip(node), node.span)


def viewed_target_of(low: CLowering, node: tree.Expression) -> ObjectPlace | None:
    """The object that a pointer argument leads to, as one of the type that the pointer claims:
    `(unsigned *)&number` leads to an `unsigned`.  None for a null pointer."""
    chain = [each for each in _conversions(node) if not _is_untyped(each)]
    claimed = bare(_target_type(chain[0])) if chain else None
    same = all(bare(_target_type(each)) == claimed for each in chain)
    return _find_object(low, strip(node) if same else chain[0], node.span)


def _find_object(low: CLowering, inner: tree.Expression, span: Span) -> ObjectPlace | None:
    if isinstance(inner, tree.AddressOf) and not isinstance(inner.operand, tree.FunctionName):
        return low.pinned(inner.operand)
    pointer = low.scalar(inner)
    if pointer.constant == 0:
        return None
    from mazurka.frontend.c.places_of import follow

    held = low.hold_value(pointer, span)
    return follow(low, held, _target_type(inner), inner.text, span)


def sync_object(low: CLowering, node: tree.Expression, shape: Shape) -> Reference:
    """The synchronization object that an argument leads to."""
    place = target_of(low, node)
    if place is None:
        low.fail(Fault.MEMORY, f"`{node.text}` is a null pointer, not an object", node.span)
        return Reference(shape, ZERO, True, node.text)  # which nothing can reach
    checks = pointer_checks(low, place)
    if checks and low.reachable:
        # Apart from the operation: this thread does nothing in between, so where the object may
        # have ended by then, it may have ended by now.
        low.step(Kind.LOCAL, node.span, node.text, operations=checks)
    title = place.title.removeprefix("&")
    return Reference(shape, low.in_memory(place.address), True, title)


def required_target(low: CLowering, node: tree.Expression) -> ObjectPlace | None:
    """The object that an argument leads to; where it leads to none, the program fails here."""
    place = target_of(low, node)
    if place is None:
        low.fail(Fault.MEMORY, f"`{node.text}` is a null pointer, not an object", node.span)
    return place


def touch(low: CLowering, node: tree.Expression) -> None:
    """Make sure that an argument leads to an object, with which nothing is done."""
    place = target_of(low, node)
    if place is None:
        low.fail(Fault.MEMORY, f"`{node.text}` is a null pointer, not an object", node.span)
    elif low.reachable and (checks := pointer_checks(low, place)):
        low.step(Kind.LOCAL, node.span, node.text, operations=checks)


def number_result(low: CLowering, span: Span, expr: object) -> Scalar:
    del low, span
    assert expr is not None
    return Scalar(INT, expr)  # type: ignore[arg-type]


def flag_cell(low: CLowering, span: Span) -> Const:
    return Const(low.take_temporary(Role.INT, span))


def set_errno(low: CLowering, number: Expr, span: Span) -> None:
    """Set the thread's `errno`, where the program has one."""
    variable = find_errno(low)
    if variable is not None:
        write(low, thread_variable(low, variable), Scalar(INT, number), span)


def find_errno(low: CLowering) -> tree.Variable | None:
    """The variable `errno` of our header, or the one behind the function of other headers."""
    unit = low.machine.unit
    for variable in unit.variables:
        if variable.name == "errno" and variable.per_thread:
            return variable
    function = unit.functions.get("__errno_location")
    if function is None:
        return None
    unit.variables.append(tree.Variable("errno", INT, function.span, per_thread=True))
    return unit.variables[-1]
