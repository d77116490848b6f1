"""Declarations of how threads share data: `protected_by`, `unprotected`, `unshared`.

They say what the model's author believes.  No behaviour depends on them: they become
`Program.declared`, and a search that uses them checks them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.locks import ConditionShape, LockShape, RWLockShape
from mazurka.frontend.kit.shapes import (
    ArrayShape,
    NumberShape,
    RecordShape,
    Reference,
    Shape,
    SyncShape,
)
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.values.containers import list_items
from mazurka.frontend.python.values.kinds import Method, Nothing, Number, Sequence, Value, kind_of
from mazurka.ir.expressions import Const, Element, Expr, Load
from mazurka.ir.program import Declaration

_PLACES = (ast.Name, ast.Attribute, ast.Subscript)


@callable_name("mazurka.model.protected_by")
def _protected_by(low: Lowering, node: ast.Call) -> Value:
    _check_call(low, node, "protected_by", 2, "protected_by(lock, place)")
    lock = _denoted(low, node.args[0])
    for place in node.args[1:]:
        _protect(low, lock, node.args[0], _denoted(low, place), place)
    return Nothing()


def _declare_all(low: Lowering, node: ast.Call, kind: str) -> Value:
    _check_call(low, node, kind, 1, f"{kind}(place)")
    for place in node.args:
        _declare(low, kind, None, _denoted(low, place), place)
    return Nothing()


callable_name("mazurka.model.unprotected")(partial(_declare_all, kind="unprotected"))
callable_name("mazurka.model.unshared")(partial(_declare_all, kind="unshared"))


def _check_call(low: Lowering, node: ast.Call, name: str, least: int, example: str) -> None:
    if low.automaton is not None:
        raise low.refuse(
            node,
            f"`{name}` is a declaration; write it at module level, outside functions, loops and"
            " branches",
        )
    if node.keywords or len(node.args) < least:
        raise low.refuse(node, f"`{name}` is written `{example}`, with any number of places")


def _denoted(low: Lowering, node: ast.expr) -> Value:
    """Evaluate an argument without reading anything: a number stays a load of its cell."""
    for part in _parts(node):
        if not isinstance(part, _PLACES):
            raise low.refuse(
                part,
                f"`{ast.unparse(part)}` is no place; name a shared variable, a field, an array or"
                " an element",
            )
    direct, low.direct = low.direct, 0
    try:
        return low.value(node)
    except NotStatic:
        raise low.refuse(node, _unknown(node)) from None
    finally:
        low.direct = direct


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Tuple(items) | ast.List(items):
            for item in items:
                yield from _parts(item)
        case ast.ListComp(item):
            yield from _parts(item)
        case _:
            yield node


def _unknown(node: ast.expr) -> str:
    return f"`{ast.unparse(node)}` is not known before the program runs; declare fixed places only"


# --- locks -------------------------------------------------------------------------------------


def _protect(low: Lowering, lock: Value, by: ast.expr, data: Value, place: ast.expr) -> None:
    """Declare one lock for everything in a place, or locks and data element by element."""
    locks = _items(low, lock, by)
    if locks is None:
        _declare(low, "protected", _owner_cell(low, lock, by), data, place)
        return
    parts = _items(low, data, place)
    if parts is None or len(parts) != len(locks):
        size = "is no array" if parts is None else f"has {len(parts)}"
        raise low.refuse(
            place,
            f"`{ast.unparse(by)}` has {len(locks)} locks, one for each element, and"
            f" `{ast.unparse(place)}` {size}",
        )
    for one, part in zip(locks, parts, strict=True):
        _protect(low, one, by, part, place)


def _items(low: Lowering, value: Value, node: ast.expr) -> list[Value] | None:
    is_list = isinstance(value, Sequence) or (
        isinstance(value, Reference) and isinstance(value.shape, ArrayShape)
    )
    return list_items(low, value, node) if is_list else None


def _owner_cell(low: Lowering, lock: Value, node: ast.expr) -> int:
    match lock:
        case Reference(LockShape(), address):
            return _fixed(low, address, node)
        case Reference(ConditionShape() as shape):
            return _fixed(low, shape.lock_of(lock).address, node)
        case Reference(RWLockShape()):
            raise low.refuse(
                node,
                f"`{ast.unparse(node)}` is a RWLock, which several readers hold at once; only a"
                " lock that one thread holds alone can protect data",
            )
        case _:
            what = "no lock" if isinstance(lock, Number) else f"{kind_of(lock)}, not a lock"
            raise low.refuse(node, f"`{ast.unparse(node)}` is {what}")


# --- places ------------------------------------------------------------------------------------


def _declare(low: Lowering, kind: str, lock: int | None, data: Value, node: ast.expr) -> None:
    declared, span = low.program.declared, low.span(node)
    for cell in _cells(low, data, node):
        if cell in declared:
            name = low.program.storage.cells[cell].name
            line = declared[cell].span.line
            raise low.refuse(node, f"`{name}` has a declaration already, at line {line}")
        declared[cell] = Declaration(kind, lock, span)


def _cells(low: Lowering, data: Value, node: ast.expr) -> list[int]:
    """List the data cells of a place; locks and the like in a record need no protection."""
    title = ast.unparse(node)
    match data:
        case Number(Load(address)):
            return [_fixed(low, address, node)]
        case Number():
            raise low.refuse(node, f"`{title}` is a constant, which no thread ever changes")
        case Sequence(items):
            return [cell for item in items for cell in _cells(low, item, node)]
        case Reference(SyncShape() as shape):
            raise low.refuse(
                node, f"`{title}` is a {shape.title}, which synchronizes; declare the data instead"
            )
        case Reference(shape, address):
            first = _fixed(low, address, node)
            found = [first + offset for offset in _data_offsets(shape)]
            if not found:
                raise low.refuse(node, f"`{title}` holds no data, only what synchronizes")
            return found
        case Method():
            raise low.refuse(node, f"`{title}` is no field")
        case _:
            raise low.refuse(node, f"`{title}` is {kind_of(data)}, not a place that holds data")


def _fixed(low: Lowering, address: Expr, node: ast.expr) -> int:
    match address:
        case Const(value):
            return value
        case Element(_, Const(index), length):
            raise low.refuse(
                node, f"`{ast.unparse(node)}`: index {index} is out of range 0..{length - 1}"
            )
        case _:
            raise low.refuse(node, _unknown(node))


def _data_offsets(shape: Shape) -> Iterator[int]:
    match shape:
        case NumberShape():
            yield 0
        case ArrayShape(element, length):
            inner = list(_data_offsets(element))
            for position in range(length):
                yield from (position * element.size + offset for offset in inner)
        case RecordShape():
            for _, start, field in shape.placed():
                yield from (start + offset for offset in _data_offsets(field))
