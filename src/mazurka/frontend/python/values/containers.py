"""Indexing, fields, lists, tuples and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from mazurka.frontend.kit.arithmetic import binary, conditional, element, select
from mazurka.frontend.kit.shapes import (
    INTEGER,
    TRUTH,
    ArrayShape,
    Blueprint,
    NumberShape,
    RecordShape,
    Reference,
)
from mazurka.frontend.python.expressions import MOST_ITEMS, truth_of
from mazurka.frontend.python.lowering import Lowering, expression
from mazurka.frontend.python.source import check_path
from mazurka.frontend.python.values.kinds import (
    Draft,
    DraftField,
    Function,
    Imported,
    Interval,
    Method,
    Nothing,
    Number,
    Sequence,
    ThreadHandle,
    Value,
    count_numbers,
    kind_of,
)
from mazurka.frontend.python.values.owned import is_record_value, read_parts
from mazurka.ir.expressions import ZERO, Binary, Conditional, Const, Expr, Unary
from mazurka.ir.program import Role

MOST_UNROLLED = 1000


@expression(ast.Attribute)
def _attribute(low: Lowering, node: ast.Attribute) -> Value:
    owner = low.value(node.value)
    match owner:
        case Imported(path):
            return check_path(f"{path}.{node.attr}", low.program.known, node, low.program.file)
        case Reference(RecordShape() as shape, address, shared, title):
            for name, offset, field in shape.placed():
                if name == node.attr:
                    place = binary("add", address, Const(offset))
                    return Reference(field, place, shared, f"{title}.{name}")
            return Method(owner, node.attr)
        case Blueprint(RecordShape() as shape, initials) if is_record_value(low, owner):
            for name, offset, field in shape.placed():
                if name == node.attr:
                    truth = isinstance(field, NumberShape) and field.role is Role.BOOL
                    return Number(initials[offset], truth)
            raise low.refuse(node, f"give the `{shape.name}` a name to call `{node.attr}` of it")
        case Draft(fields):
            if node.attr not in fields:
                raise low.refuse(node, f"`self.{node.attr}` is not set yet")
            offset, blueprint = fields[node.attr]
            if isinstance(blueprint.shape, NumberShape):
                return Number(blueprint.initials[0])
            return DraftField(owner, offset, blueprint.shape)
        case Reference() | ThreadHandle() | Sequence():
            return Method(owner, node.attr)
        case _:
            raise low.refuse(node, f"{kind_of(owner)} has no attribute `{node.attr}`")


@expression(ast.Subscript)
def _subscript(low: Lowering, node: ast.Subscript) -> Value:
    base = low.value(node.value)
    if isinstance(base, Imported) and base.path == "mazurka.model.Int":
        return _ranged(low, node)
    if isinstance(node.slice, ast.Slice):
        return _sliced(low, base, node.slice, node)
    match base:
        case Reference(ArrayShape(element_shape, length), address, shared, title):
            index = low.number_of(node.slice)
            if length == 0:
                raise low.refuse(node, f"`{title}` is empty: it has no element to index")
            place = element(address, count_back(index, length), length, element_shape.size)
            return Reference(element_shape, place, shared, f"{title}[{_shown(index, node)}]")
        case Sequence(items):
            return _item(low, node, items)
        case _:
            raise low.refuse(
                node, f"`{ast.unparse(node.value)}` is {kind_of(base)} and has no items"
            )


def _sliced(low: Lowering, base: Value, part: ast.Slice, node: ast.Subscript) -> Value:
    """Slice a list whose items are known while elaborating; an Array would be copied."""
    if not isinstance(base, Sequence):
        raise low.refuse(node, f"{kind_of(base)} has no slices in models; use a loop over indexes")
    ends = [
        None if end is None else low.constant(end, "the end of a slice")
        for end in (part.lower, part.upper, part.step)
    ]
    if ends[2] == 0:
        raise low.refuse(node, "the step of a slice cannot be 0")
    return Sequence(base.items[slice(*ends)], is_tuple=base.is_tuple)


def count_back(index: Expr, length: int) -> Expr:
    """The same index, where Python's negative ones count from the end.

    One that is too far below stays as it is, so that the error names the program's own.
    """
    if isinstance(index, Const):
        return Const(index.value + length) if -length <= index.value < 0 else index
    if _never_negative(index):
        return index
    inside = conditional(
        binary("lt", index, Const(-length)), index, binary("add", index, Const(length))
    )
    return conditional(binary("lt", index, ZERO), inside, index)


def _never_negative(expr: Expr) -> bool:
    match expr:
        case Const(value):
            return value >= 0
        case Binary("mod", _, Const(divisor)):
            return divisor > 0
        case Binary("eq" | "ne" | "lt" | "le" | "gt" | "ge", _, _) | Unary("not", _):
            return True
        case Conditional(_, then, otherwise):
            return _never_negative(then) and _never_negative(otherwise)
        case _:
            return False


def _shown(index: Expr, node: ast.Subscript) -> str:
    return str(index.value) if isinstance(index, Const) else ast.unparse(node.slice)


def _ranged(low: Lowering, node: ast.Subscript) -> NumberShape:
    if not (isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2):
        raise low.refuse(node, "a range is written `Int[low, high]`, both ends included")
    first, last = (low.constant(end, "the end of a range") for end in node.slice.elts)
    if first > last:
        raise low.refuse(node, f"`{ast.unparse(node)}` is empty: {first} is greater than {last}")
    return NumberShape(first, last, Role.INT, inferred=False)


def _item(low: Lowering, node: ast.Subscript, items: list[Value]) -> Value:
    index = low.number_of(node.slice)
    length = len(items)
    if isinstance(index, Const) and -length <= index.value < length:
        return items[index.value]
    if not items:
        raise low.refuse(node, f"`{ast.unparse(node.value)}` is empty")
    # An address computed from base 0 is the position itself, checked against the length.
    place = low.keep(element(Const(0), count_back(index, length), length, 1), low.span(node))
    if all(isinstance(item, Number) for item in items):
        numbers = [item for item in items if isinstance(item, Number)]
        chosen = select(place, [number.expr for number in numbers])
        return Number(chosen, all(number.boolean for number in numbers))
    if all(isinstance(item, ThreadHandle) for item in items):
        return ThreadHandle(
            select(place, [item.expr for item in items if isinstance(item, ThreadHandle)])
        )
    objects = [item for item in items if isinstance(item, Reference)]
    if len(objects) == length and all(item.shape == objects[0].shape for item in objects):
        if len({item.shared for item in objects}) > 1 and is_record_value(low, objects[0]):
            return _select_fields(low, objects, place, node)
        address = select(place, [item.address for item in objects])
        shared = any(item.shared for item in objects)
        return Reference(objects[0].shape, address, shared, ast.unparse(node))
    raise low.refuse(node, f"the items of `{ast.unparse(node.value)}` differ in type")


def _select_fields(
    low: Lowering, records: list[Reference], place: Expr, node: ast.Subscript
) -> Blueprint:
    """Choose among frozen records of which some are shared: what is chosen is a copy."""
    rows = [read_parts(low, record, node) for record in records]
    columns = zip(*rows, strict=True)
    chosen = [select(place, [part.expr for part in column]) for column in columns]
    return Blueprint(records[0].shape, tuple(chosen))


@expression(ast.Tuple)
def _tuple(low: Lowering, node: ast.Tuple) -> Value:
    return Sequence([_result(low, item) for item in node.elts], is_tuple=True)


@expression(ast.List)
def _list(low: Lowering, node: ast.List) -> Value:
    return Sequence([_result(low, item) for item in node.elts], growing=True)


@expression(ast.ListComp)
def _comprehension(low: Lowering, node: ast.ListComp) -> Value:
    items = list_comprehended(low, node, lambda: _result(low, node.elt))
    return Sequence(items, growing=True)


def _result(low: Lowering, node: ast.expr) -> Value:
    """Evaluate an item; a function that returns nothing was meant to be a thread, not called."""
    value = low.value(node)
    if isinstance(value, Nothing) and _calls_model(low, node) and low.reachable:
        raise low.refuse(
            node,
            f"`{ast.unparse(node)}` runs here at once and returns nothing that a list could hold;"
            " threads are started by the list `threads = [...]` at module level, or by"
            " `Thread(target=function)`",
        )
    return value


def _calls_model(low: Lowering, node: ast.expr) -> bool:
    match node:
        case ast.Call(ast.Name() as called):
            return isinstance(low.designate(called), Function)
        case ast.Call(ast.Attribute(ast.Name() as owner)):
            found = low.designate(owner)
            return isinstance(found, Reference) and isinstance(found.shape, RecordShape)
        case _:
            return False


Item = TypeVar("Item")


def list_comprehended(low: Lowering, node: ast.ListComp, make: Callable[[], Item]) -> list[Item]:
    """Make the items of a comprehension by running its loops while elaborating."""
    items = list(islice(_generate(low, make, node.generators), MOST_ITEMS + 1))
    if len(items) > MOST_ITEMS:
        raise low.refuse(node, f"a list of more than {MOST_ITEMS:,} items is too long")
    return items


def _generate(
    low: Lowering, make: Callable[[], Item], generators: list[ast.comprehension]
) -> Iterator[Item]:
    if not generators:
        yield make()
        return
    first, *rest = generators
    if first.is_async:
        raise low.refuse(first.iter, "models cannot contain `async for`")
    outer = low.overlay
    for value in list_static_items(low, first.iter):
        low.overlay = outer | bind_loop_variables(low, first.target, value)
        if all(_static_truth(low, test) for test in first.ifs):
            yield from _generate(low, make, rest)
    low.overlay = outer


def _static_truth(low: Lowering, test: ast.expr) -> bool:
    known = truth_of(low, low.value(test), test)
    if not isinstance(known, Const):
        raise low.refuse(test, "a condition in a comprehension must be a constant")
    return known.value != 0


def bind_loop_variables(low: Lowering, target: ast.expr, value: Value) -> dict[str, Value]:
    match target, value:
        case ast.Name(name), Reference(NumberShape()) if low.automaton is not None:
            return {name: low.read(value, target)}  # Python reads an item once
        case ast.Name(name), _:
            return {name: value}
        case ast.Tuple(names), Sequence(items) if len(names) == len(items):
            found: dict[str, Value] = {}
            for inner, item in zip(names, items, strict=True):
                found |= bind_loop_variables(low, inner, item)
            return found
        case _:
            raise low.refuse(target, f"`{ast.unparse(target)}` does not fit the items")


def require_one_argument(low: Lowering, node: ast.Call) -> ast.expr:
    """Require exactly one argument; returns it."""
    if len(node.args) != 1 or node.keywords:
        raise low.refuse(node, f"`{ast.unparse(node.func)}` takes one argument in models")
    return node.args[0]


def list_static_items(low: Lowering, node: ast.expr) -> list[Value]:
    """List what a loop runs over, which must be known while elaborating."""
    items = list_items(low, low.value(node), node)
    if items is None:
        raise low.refuse(node, f"`{ast.unparse(node)}` must be a constant range or a list")
    return items


def list_items(low: Lowering, value: Value, node: ast.AST) -> list[Value] | None:
    """List the items; None where only the running program knows them."""
    match value:
        case Sequence(items):
            return list(items)
        case Interval(Const(start), Const(stop), step):
            numbers = range(start, stop, step)
            _check_count(low, count_numbers(numbers), node)
            return [Number(Const(number)) for number in numbers]
        case Reference(ArrayShape(shape, length), address, shared, title):
            _check_count(low, length, node)
            return [
                Reference(
                    shape, element(address, Const(k), length, shape.size), shared, f"{title}[{k}]"
                )
                for k in range(length)
            ]
        case _:
            return None


def _check_count(low: Lowering, count: int, node: ast.AST) -> None:
    if count > MOST_UNROLLED:
        raise low.refuse(
            node,
            f"{count:,} items are too many to write out (at most {MOST_UNROLLED:,})",
        )


def make_array(items: list[Value]) -> Blueprint | None:
    """Make an array of numbers, or of new objects of one shape; None for other items."""
    if not items:
        return None
    if all(isinstance(item, Number) for item in items):
        numbers = tuple(item.expr for item in items if isinstance(item, Number))
        element = TRUTH if all(getattr(item, "boolean", False) for item in items) else INTEGER
        return Blueprint(ArrayShape(element, len(items)), numbers)
    made = [_new_object(item) for item in items]
    parts = [part for part in made if part is not None]
    if len(parts) < len(items) or any(part.shape != parts[0].shape for part in parts):
        return None
    initials = tuple(initial for part in parts for initial in part.initials)
    return Blueprint(ArrayShape(parts[0].shape, len(parts)), initials)


def _new_object(item: Value) -> Blueprint | None:
    if isinstance(item, Blueprint):
        return item
    return make_array(item.items) if isinstance(item, Sequence) else None
