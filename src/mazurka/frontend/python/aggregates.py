"""Builtins over all items: `sum`, `min`, `max`, `any`, `all`, `enumerate`, `zip`, `reversed`.

Loops over items are written out.  Items are read one after the other, and `any` and `all` stop at
the first item that decides, so that other threads can act in between exactly as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.automaton import Label
from mazurka.frontend.kit.shapes import NumberShape, Reference
from mazurka.frontend.python.conditions import branch_on
from mazurka.frontend.python.containers import (
    bind_loop_variables,
    list_items,
    list_static_items,
    require_one_argument,
)
from mazurka.frontend.python.expressions import as_number, truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.values import Interval, Number, Sequence, Value, kind_of
from mazurka.ir.expressions import ZERO, Const, Expr, Load
from mazurka.ir.program import Role

Visitor = Callable[[Value, ast.expr], None]


@callable_name("builtins.min")
def _min(low: Lowering, node: ast.Call) -> Value:
    return _extreme(low, node, "min")


@callable_name("builtins.max")
def _max(low: Lowering, node: ast.Call) -> Value:
    return _extreme(low, node, "max")


def _extreme(low: Lowering, node: ast.Call, operator: str) -> Value:
    if node.keywords:
        raise low.refuse(node, f"`{operator}` takes numbers only in models")
    if len(node.args) == 1:
        numbers = _item_numbers(low, node.args[0])
    else:
        numbers = [low.number_of(argument) for argument in node.args]
    if not numbers:
        raise low.refuse(node, f"`{ast.unparse(node)}` has no numbers to look at")
    return Number(_combine(operator, numbers))


def _combine(operator: str, numbers: list[Expr]) -> Expr:
    """Apply the operator between all numbers, as a balanced tree."""
    if len(numbers) == 1:
        return numbers[0]
    middle = len(numbers) // 2
    left, right = _combine(operator, numbers[:middle]), _combine(operator, numbers[middle:])
    return binary(operator, left, right)


def _item_numbers(low: Lowering, node: ast.expr) -> list[Expr]:
    numbers: list[Expr] = []
    if isinstance(node, ast.GeneratorExp):
        node = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    _each_item(low, low.value(node), node, lambda v, n: numbers.append(_number(low, v, n)))
    return numbers


def _number(low: Lowering, value: Value, node: ast.expr) -> Expr:
    if isinstance(value, Number):
        return value.expr
    raise low.refuse(node, f"`{ast.unparse(node)}` holds {kind_of(value)}, not numbers")


def _each_item(low: Lowering, value: Value, node: ast.expr, visit: Visitor) -> None:
    items = list_items(low, value, node)
    if items is None:
        raise low.refuse(node, f"`{ast.unparse(node)}` is no list, Array or constant range")
    for item in items:
        if isinstance(item, Reference) and isinstance(item.shape, NumberShape):
            item = low.read(item, node)
        visit(item, node)


@callable_name("builtins.sum")
def _sum(low: Lowering, node: ast.Call) -> Value:
    argument = require_one_argument(low, node)
    if not isinstance(argument, ast.GeneratorExp) or not _is_conditional(argument):
        return Number(_combine("add", [ZERO, *_item_numbers(low, argument)]))
    low.require_automaton()
    total = low.take_temporary(Role.INT, low.span(node))
    low.set_cell(total, ZERO, low.span(node))

    def add(value: Value, place: ast.expr) -> None:
        grown = binary("add", Load(Const(total)), as_number(low, value, place))
        low.set_cell(total, grown, low.span(place))

    _each(low, argument.elt, argument.generators, add)
    return Number(Load(Const(total)))


def _is_conditional(node: ast.GeneratorExp) -> bool:
    return any(generator.ifs for generator in node.generators)


def _each(
    low: Lowering, item: ast.expr, generators: list[ast.comprehension], visit: Visitor
) -> None:
    """Visit the values of a generator; its conditions may depend on the running program."""
    if not generators:
        visit(low.value(item), item)
        return
    first, *rest = generators
    outer, automaton = low.overlay, low.require_automaton()
    for value in list_static_items(low, first.iter):
        if not low.reachable:
            break
        low.overlay = outer | bind_loop_variables(low, first.target, value)
        skip = automaton.new_label(low.span(item))
        for test in first.ifs:
            follow = automaton.new_label(low.span(test))
            branch_on(low, test, follow, skip)
            automaton.place(follow, low.span(test))
        if low.reachable:
            _each(low, item, rest, visit)
        automaton.place(skip, low.span(item))
    low.overlay = outer


@callable_name("builtins.any")
def _any(low: Lowering, node: ast.Call) -> Value:
    return _decide(low, node, deciding=True)


@callable_name("builtins.all")
def _all(low: Lowering, node: ast.Call) -> Value:
    return _decide(low, node, deciding=False)


def _decide(low: Lowering, node: ast.Call, *, deciding: bool) -> Value:
    """Evaluate `any` or `all`, which stop at the first item that decides."""
    automaton, argument = low.require_automaton(), require_one_argument(low, node)
    result, end = low.take_temporary(Role.BOOL, low.span(node)), automaton.new_label(low.span(node))
    low.set_cell(result, Const(int(deciding)), low.span(node))

    def look(value: Value, place: ast.expr) -> None:
        follow = automaton.new_label(low.span(node))
        ways: tuple[Label, Label] = (end, follow) if deciding else (follow, end)
        low.branch_at(place, truth_of(low, value, place), *ways)
        automaton.place(follow, low.span(node))

    if isinstance(argument, ast.GeneratorExp):
        _each(low, argument.elt, argument.generators, look)
    else:
        items = list_items(low, low.value(argument), argument)
        if items is None:
            raise low.refuse(argument, f"`{ast.unparse(argument)}` is no list or Array")
        for item in items:
            if not low.reachable:
                break
            if isinstance(item, Reference) and isinstance(item.shape, NumberShape):
                item = low.read(item, argument)
            look(item, argument)
    if low.reachable:
        low.set_cell(result, Const(int(not deciding)), low.span(node))
    automaton.place(end, low.span(node))
    return Number(Load(Const(result)), boolean=True)


@callable_name("builtins.enumerate")
def _enumerate(low: Lowering, node: ast.Call) -> Value:
    start = 0
    match node:
        case ast.Call(args=[argument], keywords=[]):
            pass
        case ast.Call(args=[argument, first], keywords=[]):
            start = low.constant(first, "the first number of `enumerate`")
        case ast.Call(args=[argument], keywords=[ast.keyword("start", first)]):
            start = low.constant(first, "the first number of `enumerate`")
        case _:
            raise low.refuse(node, "`enumerate` takes a list or an Array, and a first number")
    items = list_items(low, low.value(argument), argument)
    if items is None:
        raise low.refuse(node, "`enumerate` needs a list or an Array; use `range` and an index")
    pairs = enumerate(items, start)
    return Sequence([Sequence([Number(Const(place)), item]) for place, item in pairs])


@callable_name("builtins.zip")
def _zip(low: Lowering, node: ast.Call) -> Value:
    strict = False
    for keyword in node.keywords:
        if keyword.arg != "strict":
            raise low.refuse(node, "`zip` takes lists, Arrays and `strict=` only")
        strict = bool(low.constant(keyword.value, "`strict`"))
    columns = [list_static_items(low, argument) for argument in node.args]
    if strict and len({len(column) for column in columns}) > 1:
        raise low.refuse(node, f"`{ast.unparse(node)}`: the lists differ in length")
    return Sequence([Sequence(list(row)) for row in zip(*columns, strict=False)])


@callable_name("builtins.reversed")
def _reversed(low: Lowering, node: ast.Call) -> Value:
    argument = require_one_argument(low, node)
    value = low.value(argument)
    match value:
        case Interval(Const(start), Const(stop), step):
            numbers = range(start, stop, step)[::-1]
            return Interval(Const(numbers.start), Const(numbers.stop), numbers.step)
        case Interval(start, stop, 1 | -1 as step):
            back = Const(step)
            return Interval(binary("sub", stop, back), binary("sub", start, back), -step)
        case Interval():
            raise low.refuse(node, "`reversed` needs constant bounds here; use a negative step")
    items = list_items(low, value, argument)
    if items is None:
        raise low.refuse(node, f"`reversed` needs a range, a list or Array, not {kind_of(value)}")
    return Sequence(items[::-1])


@callable_name("builtins.sorted")
def _sorted(low: Lowering, node: ast.Call) -> Value:
    raise low.refuse(node, "`sorted` is not supported; sort an Array with loops, or use `min`")
