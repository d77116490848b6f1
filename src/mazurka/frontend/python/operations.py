"""Builtins for numbers and the operations of `mazurka.model` that are not methods of objects."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.arithmetic import binary, select, unary
from mazurka.frontend.kit.shapes import ArrayShape, NumberShape, Reference
from mazurka.frontend.python.arguments import match_arguments
from mazurka.frontend.python.containers import list_items, require_one_argument
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.values import (
    Imported,
    Interval,
    Nothing,
    Number,
    Sequence,
    Value,
    kind_of,
)
from mazurka.ir.expressions import ZERO, Choice, Const, Expr, Load, negate
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
    return Sequence([_copied(low, item, node) for item in items], growing=is_list)


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
    scaled = binary("mul", Choice(), Const(numbers.step)) if numbers.step != 1 else Choice()
    return Number(_choice(low, node, len(numbers), binary("add", scaled, Const(numbers.start))))


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
    test = _direct_condition(low, condition)
    if test is None:
        test = truth_of(low, low.value(condition), condition)
    if isinstance(test, Const) and test.value:
        return Nothing()
    low.step(Kind.ASSUME, low.span(node), text, guard=test)
    return Nothing()


def _direct_condition(low: Lowering, condition: ast.expr) -> Expr | None:
    """Evaluate a condition as a guard that reads at most one shared cell itself; None for others.

    Such a thread simply waits for its condition, without a state for having read too early.
    """
    automaton = low.require_automaton()
    edges, locations, held = len(automaton.edges), len(automaton.locations), len(low.held)
    current, bound = automaton.current, automaton.bound
    low.direct = 0
    test = truth_of(low, low.value(condition), condition)
    reads, low.direct = low.direct, None
    if reads <= 1 and len(automaton.edges) == edges:
        return test
    del automaton.edges[edges:], automaton.locations[locations:]
    automaton.current, automaton.bound = current, bound
    low.release(held)
    return None


def _place(
    low: Lowering, node: ast.Call, what: str, names: tuple[str, ...]
) -> tuple[Reference, list[Expr]]:
    """Evaluate the place an atomic operation works on, and the numbers it is given."""
    given = match_arguments(low, node, ("place", *names), what)
    if len(given) != len(names) + 1:
        raise low.refuse(node, f"write `{what}(place, {', '.join(names)})`")
    place = low.designate(given["place"])
    if not (isinstance(place, Reference) and isinstance(place.shape, NumberShape)):
        raise low.refuse(
            node, f"`{ast.unparse(given['place'])}` is no shared variable, element or field"
        )
    address = low.keep(place.address, low.span(node), Role.POINTER)
    numbers = [low.number_of(given[name]) for name in names]
    return Reference(place.shape, address, place.shared, place.title), numbers


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
