"""`while`, `for`, `break`, `continue`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from mazurka.frontend.kit.arithmetic import binary, element
from mazurka.frontend.kit.program import Label
from mazurka.frontend.kit.shapes import ArrayShape, Blueprint, NumberShape, Reference
from mazurka.frontend.python.expressions import branch_on
from mazurka.frontend.python.lowering import LocalVariable, Loop, Lowering, statement
from mazurka.frontend.python.statements import leave_to
from mazurka.frontend.python.survey import count_stores, creates_or_grows, leaves_early
from mazurka.frontend.python.values.assignment import assign, bind_cell, is_fixed, settle
from mazurka.frontend.python.values.containers import count_back, list_items
from mazurka.frontend.python.values.kinds import (
    Interval,
    Number,
    Sequence,
    Value,
    count_numbers,
    kind_of,
)
from mazurka.frontend.python.values.owned import is_record_value
from mazurka.ir.expressions import Const, Expr, Load
from mazurka.ir.program import Role

MOST_UNROLLED_THREADS = 64


@statement(ast.While)
def _while(low: Lowering, node: ast.While) -> None:
    automaton = low.require_automaton()
    span = low.span(node)
    head, body, otherwise, after = (automaton.new_label(span) for _ in range(4))
    automaton.place(head, span)
    low.loop_depth += 1
    mark = len(low.held)
    branch_on(low, node.test, body, otherwise)
    low.release(mark)
    automaton.place(body, span)
    _body(low, node, after, head)
    low.loop_depth -= 1
    _finish(low, node, otherwise, after)


def _body(low: Lowering, node: ast.While | ast.For, after: Label, again: Label) -> None:
    """Elaborate one round of the loop, which then goes on at `again`."""
    automaton = low.require_automaton()
    low.uncertain += 1
    low.loops.append(Loop(after, again, len(low.cleanups)))
    if low.reachable:
        low.execute(node.body)
    low.loops.pop()
    low.uncertain -= 1
    if low.reachable:
        automaton.jump(again, low.span(node))


def _finish(low: Lowering, node: ast.While | ast.For, otherwise: Label, after: Label) -> None:
    """Elaborate the `else` part, which runs where no `break` was taken."""
    automaton = low.require_automaton()
    automaton.place(otherwise, low.span(node))
    low.uncertain += 1
    if low.reachable:
        low.execute(node.orelse)
    low.uncertain -= 1
    automaton.place(after, low.span(node))


@statement(ast.Break)
def _break(low: Lowering, node: ast.Break) -> None:
    loop = low.loops[-1]
    leave_to(low, loop.after, loop.cleanups, node)


@statement(ast.Continue)
def _continue(low: Lowering, node: ast.Continue) -> None:
    loop = low.loops[-1]
    leave_to(low, loop.again, loop.cleanups, node)


@statement(ast.For)
def _for(low: Lowering, node: ast.For) -> None:
    value = low.value(node.iter)
    if not low.reachable:
        return
    match value:
        case Interval() as interval:
            items = None
            if creates_or_grows(node.body):
                items = _few_items(low, interval, node)
            if items is None:
                _count(low, node, interval)
            else:
                _unroll(low, node, items)
        case Sequence(items):
            _unroll(low, node, [settle(low, item, node) for item in items])
        case Reference(ArrayShape()) as array:
            _over_array(low, node, array)
        case _:
            raise low.refuse(
                node.iter,
                f"a `for` loop cannot run over {kind_of(value)}; use `range`, a list or an Array",
            )


def _few_items(low: Lowering, interval: Interval, node: ast.For) -> list[Value] | None:
    match interval:
        case Interval(Const(start), Const(stop), step):
            if count_numbers(range(start, stop, step)) <= MOST_UNROLLED_THREADS:
                return list_items(low, interval, node)
    return None


def _unroll(low: Lowering, node: ast.For, items: list[Value]) -> None:
    """Elaborate a copy of the body for each item; the loop variable is known in each."""
    automaton = low.require_automaton()
    span, after = low.span(node), automaton.new_label(low.span(node))
    early = leaves_early(node.body)
    low.unrolled += 1
    low.uncertain += early
    for item in items:
        again = automaton.new_label(span)
        low.loops.append(Loop(after, again, len(low.cleanups)))
        _bind_item(low, node, item, early)
        if low.reachable:
            low.execute(node.body)
        low.loops.pop()
        automaton.place(again, span)
        if not low.reachable:
            break
    low.uncertain -= early
    low.unrolled -= 1
    if low.reachable:
        low.uncertain += 1
        low.execute(node.orelse)
        low.uncertain -= 1
    automaton.place(after, span)


def _bind_item(low: Lowering, node: ast.For, item: Value, early: bool) -> None:
    if isinstance(item, Reference) and isinstance(item.shape, NumberShape):
        item = low.read(item, node)
    known = isinstance(node.target, ast.Name) and not early and is_fixed(item)
    known = known and not (isinstance(item, Blueprint) and is_record_value(low, item))
    if known and low.frame.facts.stores[ast.unparse(node.target)] == 1:
        low.frame.variables[ast.unparse(node.target)] = item
        low.mark_bound(ast.unparse(node.target))
    else:
        assign(low, node.target, item, node)


def _count(low: Lowering, node: ast.For, interval: Interval) -> None:
    """Loop over numbers; the bounds are evaluated once."""
    if not isinstance(node.target, ast.Name):
        raise low.refuse(node.target, "a loop over `range` needs one variable")
    name = node.target.id
    stop = low.keep(interval.stop, low.span(node))
    counter = _counter(low, node, interval.start)

    def bind() -> None:
        if _is_own(low, node, counter):
            low.mark_bound(name)
        else:
            assign(low, node.target, Number(Load(Const(counter))), node)

    test = binary("lt" if interval.step > 0 else "gt", Load(Const(counter)), stop)
    first = binary("lt" if interval.step > 0 else "gt", interval.start, stop)
    _repeat(low, node, counter, interval.step, test, first == Const(1), bind)


def _repeat(
    low: Lowering,
    node: ast.For,
    counter: int,
    step: int,
    test: Expr,
    surely: bool,
    bind: Callable[[], None],
) -> None:
    """Loop while the counter passes the test; `bind` gives the loop variable its value.

    With `surely` there is a first round, which is not tested: what the body binds then has a value
    behind the loop.
    """
    automaton, span = low.require_automaton(), low.span(node)
    head, body, again, otherwise, after = (automaton.new_label(span) for _ in range(5))
    low.loop_depth += 1
    if not surely:
        automaton.place(head, span)
        low.branch_at(node.iter, test, body, otherwise)
    automaton.place(body, span)
    if low.reachable:
        bind()
    _body(low, node, after, again)
    automaton.place(again, span)
    if low.reachable:
        low.set_cell(counter, binary("add", Load(Const(counter)), Const(step)), low.span(node))
        if surely:
            low.branch_at(node.iter, test, body, otherwise)
        else:
            automaton.jump(head, span)
    low.loop_depth -= 1
    _finish(low, node, otherwise, after)


def _is_own(low: Lowering, node: ast.For, counter: int) -> bool:
    assert isinstance(node.target, ast.Name)
    variable = low.frame.variables.get(node.target.id)
    return isinstance(variable, LocalVariable) and variable.cell == counter


def _counter(low: Lowering, node: ast.For, start: Expr) -> int:
    """Choose the cell that counts: the loop variable itself, unless that made a difference."""
    assert isinstance(node.target, ast.Name)
    name, facts = node.target.id, low.frame.facts
    private = facts.is_local(name) and name not in facts.loads_outside_loops
    shared_name = low.frame.is_module and name in low.program.globals
    variable = low.frame.variables.get(name)
    plain = variable is None or (isinstance(variable, LocalVariable) and variable.role is Role.INT)
    if private and not shared_name and plain and not count_stores(node.body)[name]:
        bound = low.require_automaton().bound
        bind_cell(low, name, Number(start), node)
        low.require_automaton().bound = bound  # the name has no value if the range is empty
        variable = low.frame.variables[name]
        assert isinstance(variable, LocalVariable)
        return variable.cell
    cell = low.take_temporary(Role.INT, low.span(node))
    low.set_cell(cell, start, low.span(node))
    return cell


def _over_array(low: Lowering, node: ast.For, array: Reference) -> None:
    """Loop over an Array with a hidden index; the items are read one by one."""
    shape = array.shape
    assert isinstance(shape, ArrayShape)
    if creates_or_grows(node.body) or not isinstance(shape.element, NumberShape):
        items = list_items(low, array, node)
        assert items is not None
        _unroll(low, node, [settle(low, item, node) for item in items])
        return
    base = low.keep(array.address, low.span(node), Role.POINTER)
    counter = low.take_temporary(Role.INT, low.span(node))
    low.set_cell(counter, Const(0), low.span(node))
    index = Load(Const(counter))
    place = element(base, count_back(index, shape.length), shape.length, shape.element.size)
    item = Reference(shape.element, place, array.shared, f"{array.title}[...]")
    test = binary("lt", index, Const(shape.length))
    _repeat(
        low,
        node,
        counter,
        1,
        test,
        shape.length > 0,
        lambda: assign(low, node.target, low.read(item, node), node),
    )
