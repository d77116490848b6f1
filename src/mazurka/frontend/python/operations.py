"""Builtins, and the operations of `mazurka.model` that are not methods of objects.

Loops of builtins over items are written out.  Items are read one after the other, and `any` and
`all` stop at the first item that decides, so that other threads can act in between exactly as in
Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from mazurka.frontend.kit.arithmetic import binary, select, unary
from mazurka.frontend.kit.program import Label
from mazurka.frontend.kit.shapes import ArrayShape, NumberShape, Reference
from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.assertions import refuse_tuple
from mazurka.frontend.python.conditions import begin_evaluation, evaluate_directly
from mazurka.frontend.python.expressions import as_number, branch_on, truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.values.assignment import check_frozen
from mazurka.frontend.python.values.containers import (
    bind_loop_variables,
    list_items,
    list_static_items,
    require_one_argument,
)
from mazurka.frontend.python.values.kinds import (
    Imported,
    Interval,
    Nothing,
    Number,
    Sequence,
    Value,
    count_numbers,
    kind_of,
)
from mazurka.ir.expressions import ZERO, Choice, Const, Expr, Load, negate
from mazurka.ir.passes.validate import MOST_CHOICES
from mazurka.ir.program import Assign, Kind, Role


@callable_name("builtins.range")
def _range(low: Lowering, node: ast.Call) -> Value:
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise low.refuse(node, "`range` takes one to three numbers")
    ends = [low.number_of(argument) for argument in node.args]
    start, stop = (ends[0], ends[1]) if len(ends) > 1 else (Const(0), ends[0])
    step = ends[2] if len(ends) == 3 else Const(1)
    if not isinstance(step, Const) or step.value == 0:
        raise low.refuse(node, "the step of a `range` must be a constant other than 0")
    return Interval(start, stop, step.value)


@callable_name("builtins.len")
def _len(low: Lowering, node: ast.Call) -> Value:
    value = low.value(require_one_argument(low, node))
    match value:
        case Reference(ArrayShape(_, length)):
            return Number(Const(length))
        case Sequence(items):
            return Number(Const(len(items)))
        case _:
            raise low.refuse(node, f"{kind_of(value)} has no length; for a Queue use `qsize()`")


@callable_name("builtins.abs")
def _abs(low: Lowering, node: ast.Call) -> Value:
    return Number(unary("abs", low.number_of(require_one_argument(low, node))))


@callable_name("builtins.bool")
def _bool(low: Lowering, node: ast.Call) -> Value:
    argument = require_one_argument(low, node)
    return Number(truth_of(low, low.value(argument), argument), boolean=True)


@callable_name("builtins.int")
def _int(low: Lowering, node: ast.Call) -> Value:
    return Number(low.number_of(require_one_argument(low, node)))


@callable_name("builtins.list", "builtins.tuple")
def _list(low: Lowering, node: ast.Call) -> Value:
    items = list_items(low, low.value(require_one_argument(low, node)), node)
    if items is None:
        raise low.refuse(
            node, f"`{ast.unparse(node)}` must be known while elaborating; use an Array"
        )
    is_list = low.designate(node.func) == Imported("builtins.list")
    copied = [_copied(low, item, node) for item in items]
    return Sequence(copied, growing=is_list, is_tuple=not is_list)


def _copied(low: Lowering, item: Value, node: ast.AST) -> Value:
    if isinstance(item, Reference) and isinstance(item.shape, NumberShape):
        return low.read(item, node)
    return item


@callable_name("builtins.print")
def _print(low: Lowering, node: ast.Call) -> Value:
    _check_no_effects(low, node)
    return Nothing()


def _check_no_effects(low: Lowering, node: ast.Call) -> None:
    """Refuse calls in arguments that are not evaluated."""
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    if any(isinstance(inner, ast.Call) for part in parts for inner in ast.walk(part)):
        name = ast.unparse(node.func)
        raise low.refuse(
            node, f"the arguments of `{name}` are not evaluated, so they cannot call anything"
        )


@callable_name("mazurka.model.yield_")
def _yield(low: Lowering, node: ast.Call) -> Value:
    low.step(Kind.YIELD, low.span(node), "yield")
    return Nothing()


@callable_name("time.sleep")
def _sleep(low: Lowering, node: ast.Call) -> Value:
    """Let other threads run; there is no time in models."""
    _check_no_effects(low, node)
    low.step(Kind.YIELD, low.span(node), "sleep")
    return Nothing()


@callable_name("mazurka.model.choose")
def _choose(low: Lowering, node: ast.Call) -> Value:
    if node.keywords or not node.args:
        raise low.refuse(node, "`choose` takes the values to choose from: `choose(0, 1)`")
    values = [low.value(argument) for argument in node.args]
    if len(values) == 1 and isinstance(values[0], Interval):
        return _choose_number(low, node, values[0])
    if len(values) == 1 and isinstance(values[0], Sequence):
        values = list(values[0].items)
    numbers = [value for value in values if isinstance(value, Number)]
    if len(numbers) < len(values) or not numbers:
        raise low.refuse(node, "`choose` chooses among numbers; choose an index and use it")
    boolean = all(number.boolean for number in numbers)
    chosen = select(Choice(), [number.expr for number in numbers])
    role = Role.BOOL if boolean else Role.INT
    return Number(_choice(low, node, len(numbers), chosen, role), boolean)


def _choose_number(low: Lowering, node: ast.Call, interval: Interval) -> Value:
    if not (isinstance(interval.start, Const) and isinstance(interval.stop, Const)):
        raise low.refuse(
            node, "`choose(range(...))` needs constant bounds; use `assume` to narrow it"
        )
    numbers = range(interval.start.value, interval.stop.value, interval.step)
    if not numbers:
        raise low.refuse(node, f"`{ast.unparse(node)}` has nothing to choose from")
    count = count_numbers(numbers)
    if count > MOST_CHOICES:
        raise low.refuse(
            node,
            f"`{ast.unparse(node)}` has {count:,} numbers to choose from; {MOST_CHOICES:,} is the"
            " most",
        )
    scaled = binary("mul", Choice(), Const(numbers.step)) if numbers.step != 1 else Choice()
    return Number(_choice(low, node, count, binary("add", scaled, Const(numbers.start))))


def _choice(low: Lowering, node: ast.Call, count: int, value: Expr, role: Role = Role.INT) -> Expr:
    automaton = low.require_automaton()
    if automaton.atomic_depth and low.loop_depth > low.atomic_loops:
        raise low.refuse(
            node,
            "`choose` in a loop inside `atomic()` would choose any number of times in one step;"
            " choose before the section",
        )
    cell = Const(low.take_temporary(role, low.span(node)))
    low.step(
        Kind.CHOOSE,
        low.span(node),
        ast.unparse(node),
        operations=(Assign(cell, value),),
        choices=count,
    )
    return Load(cell)


@callable_name("mazurka.model.assume")
def _assume(low: Lowering, node: ast.Call) -> Value:
    condition = require_one_argument(low, node)
    text = f"assume {ast.unparse(condition)}"
    test = evaluate_directly(low, condition, most_reads=1)
    if test is None:
        test = truth_of(low, low.value(condition), condition)
    if isinstance(test, Const) and test.value:
        return Nothing()
    low.step(Kind.ASSUME, low.span(node), text, guard=test)
    return Nothing()


@callable_name("mazurka.model.await_")
def _await(low: Lowering, node: ast.Call) -> Value:
    """Wait until a condition holds, which is evaluated in one step whatever it reads."""
    if not node.args and len(node.keywords) == 1 and (name := node.keywords[0].arg) is not None:
        value = ast.unparse(node.keywords[0].value)
        raise low.refuse(node, f"`await_` takes a condition: `await_({name} == {value})`")
    condition = require_one_argument(low, node)
    refuse_tuple(low, condition)
    if isinstance(condition, ast.Lambda):
        raise low.refuse(
            condition,
            "`await_` takes the condition itself, which it evaluates again and again:"
            f" `await_({ast.unparse(condition.body)})`",
        )
    text, automaton = f"await {ast.unparse(condition)}", low.require_automaton()
    test = evaluate_directly(low, condition)
    if test is not None:
        if not (isinstance(test, Const) and test.value):
            low.step(Kind.UNTIL, low.span(node), text, guard=test)
        return Nothing()
    if not automaton.atomic_depth:
        begin_evaluation(low, low.span(node), text)
    automaton.atomic_depth += 1
    test = truth_of(low, low.value(condition), condition)
    automaton.atomic_depth -= 1
    low.step(Kind.UNTIL, low.span(node), text, guard=test)
    return Nothing()


def _place(
    low: Lowering, node: ast.Call, what: str, names: tuple[str, ...]
) -> tuple[Reference, list[Expr]]:
    """Evaluate the place an atomic operation works on, and the numbers it is given."""
    given = match_arguments(low, node, ("place", *names), what)
    if len(given) != len(names) + 1:
        raise low.refuse(node, f"write `{what}(place, {', '.join(names)})`")
    check_frozen(low, given["place"])
    place = low.designate(given["place"])
    if not (isinstance(place, Reference) and isinstance(place.shape, NumberShape)):
        raise low.refuse(
            node, f"`{ast.unparse(given['place'])}` is no shared variable, element or field"
        )
    place = low.pin(place, low.span(node))
    return place, [low.number_of(given[name]) for name in names]


@callable_name("mazurka.model.cas")
def _cas(low: Lowering, node: ast.Call) -> Value:
    place, (old, new) = _place(low, node, "cas", ("old", "new"))
    done = Const(low.take_temporary(Role.BOOL, low.span(node)))
    same = binary("eq", Load(place.address), old)
    low.take_one_of(
        Kind.ATOMIC,
        low.span(node),
        f"cas {place.title}",
        [
            (same, (Assign(place.address, new), Assign(done, Const(1)))),
            (negate(same), (Assign(done, ZERO),)),
        ],
        atomic=True,
    )
    return Number(Load(done), boolean=True)


@callable_name("mazurka.model.fetch_add")
def _fetch_add(low: Lowering, node: ast.Call) -> Value:
    place, (amount,) = _place(low, node, "fetch_add", ("amount",))
    return _exchange(low, node, "fetch_add", place, binary("add", Load(place.address), amount))


@callable_name("mazurka.model.swap")
def _swap(low: Lowering, node: ast.Call) -> Value:
    place, (value,) = _place(low, node, "swap", ("value",))
    return _exchange(low, node, "swap", place, value)


def _exchange(low: Lowering, node: ast.Call, what: str, place: Reference, value: Expr) -> Value:
    """Put in a new value and get the old one, in one step."""
    old = Const(low.take_temporary(Role.INT, low.span(node)))
    low.step(
        Kind.ATOMIC,
        low.span(node),
        f"{what} {place.title}",
        operations=(Assign(old, Load(place.address)), Assign(place.address, value)),
        atomic=True,
    )
    is_truth = isinstance(place.shape, NumberShape) and place.shape.role is Role.BOOL
    return Number(Load(old), is_truth)


Visitor = Callable[[Value, ast.expr], None]


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


callable_name("builtins.min")(partial(_extreme, operator="min"))
callable_name("builtins.max")(partial(_extreme, operator="max"))


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
        visit(_copied(low, item, node), node)


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
            look(_copied(low, item, argument), argument)
    if low.reachable:
        low.set_cell(result, Const(int(not deciding)), low.span(node))
    automaton.place(end, low.span(node))
    return Number(Load(Const(result)), boolean=True)


callable_name("builtins.any")(partial(_decide, deciding=True))
callable_name("builtins.all")(partial(_decide, deciding=False))


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
