"""Statements: control flow becomes locations and edges."""

from __future__ import annotations

from collections.abc import Callable

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.expressions import branch_on
from mazurka.frontend.c.function_ends import end_without_value
from mazurka.frontend.c.initializers import initialize
from mazurka.frontend.c.lives import (
    arrive,
    clean_up,
    leave,
    leave_for_label,
    leave_function,
    leave_to,
)
from mazurka.frontend.c.lowering import BlockScope, CLowering, Handler
from mazurka.frontend.c.lowering import statement as register
from mazurka.frontend.c.places_of import declare, enter
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.trips import count_trips
from mazurka.frontend.c.types import IntegerType, bare
from mazurka.frontend.c.values import ObjectPlace, Scalar
from mazurka.frontend.kit.arithmetic import binary, both, either
from mazurka.frontend.kit.program import Label
from mazurka.ir.expressions import Const, Expr, negate
from mazurka.ir.program import Kind, Span


def statement(kind: type[tree.Statement]) -> Callable[[Handler], Handler]:
    """Register how a kind of statement is executed; it may be a block with variables of its own."""

    def wrap(handler: Handler) -> Handler:
        def execute(low: CLowering, node: tree.Statement) -> None:
            enter(low, node, node.span)
            handler(low, node)
            leave(low, node, node.span)

        register(kind)(execute)
        return handler

    return wrap


@statement(tree.Compound)
def _compound(low: CLowering, node: tree.Compound) -> None:
    for each in node.body:
        low.execute(each)


@statement(tree.Empty)
def _empty(low: CLowering, node: tree.Empty) -> None:
    pass


@statement(tree.Refused)
def _refused(low: CLowering, node: tree.Refused) -> None:
    if low.reachable:
        raise low.refuse(node, node.reason)


@statement(tree.Declare)
def _declare(low: CLowering, node: tree.Declare) -> None:
    if not low.reachable:
        return  # `declare` makes the variable where a jump leads behind its declaration
    for variable in node.variables:
        initialize(low, declare(low, variable), variable)


@register(tree.Guarded)
def _guarded(low: CLowering, node: tree.Guarded) -> None:
    low.frame.scopes.append(BlockScope(node, cleanup=node.cleanup))
    low.execute(node.body)
    low.frame.scopes.pop()
    clean_up(low, node.cleanup)


@statement(tree.Evaluate)
def _evaluate(low: CLowering, node: tree.Evaluate) -> None:
    if low.reachable:
        low.effect(node.expression)


@statement(tree.If)
def _if(low: CLowering, node: tree.If) -> None:
    then, otherwise, end = (low.label(node.span) for _ in range(3))
    if low.reachable:
        mark = len(low.held)
        branch_on(low, node.test, then, otherwise)
        low.release(mark)
    low.put(then, node.span)
    low.execute(node.then)
    if low.reachable:
        low.go(end, node.span)
    low.put(otherwise, node.span)
    if node.otherwise is not None:
        low.execute(node.otherwise)
    low.put(end, node.span)


@statement(tree.LoopStatement)
def _loop(low: CLowering, node: tree.LoopStatement) -> None:
    if node.initial is not None:
        low.execute(node.initial)
    again, body, advance, end = (low.label(node.span) for _ in range(4))
    low.loop_depth += 1
    trips = count_trips(low, node)
    low.trips.append(trips)
    low.joining.append(trips is None and low.survey.may_join(node))
    if any(isinstance(each, tree.Labelled | tree.CaseLabel) for each in walk(node.body)):
        low.expect(body if node.test_last else again)  # a jump into the loop may lead there
    if node.test_last:
        low.put(body, node.span)
        _run_body(low, node.body, advance, end)
        low.put(advance, node.body.span)
        _test(low, node, body, end)
        _forget(low, again)
    else:
        low.put(again, node.span)
        _test(low, node, body, end)
        low.put(body, node.span)
        _run_body(low, node.body, advance, end)
        low.put(advance, node.span)
        if node.step is not None and low.reachable:
            mark = len(low.held)
            low.effect(node.step)
            low.release(mark)
        if low.reachable:
            low.go(again, node.span)
    low.loop_depth -= 1
    low.trips.pop()
    low.joining.pop()
    low.put(end, node.span)


def _forget(low: CLowering, label: Label) -> None:
    """A label that nothing leads to."""
    low.require_automaton().unplaced.discard(label.location)


def _test(low: CLowering, node: tree.LoopStatement, body: Label, end: Label) -> None:
    if not low.reachable:
        return
    if node.test is None:
        low.go(body, node.span)
        return
    mark = len(low.held)
    branch_on(low, node.test, body, end)
    low.release(mark)


def _run_body(low: CLowering, body: tree.Statement, advance: Label, end: Label) -> None:
    frame = low.frame
    frame.breaks.append(end)
    frame.continues.append(advance)
    frame.levels[end] = frame.levels[advance] = len(frame.scopes)
    low.execute(body)
    frame.breaks.pop()
    frame.continues.pop()


@statement(tree.Break)
def _break(low: CLowering, node: tree.Break) -> None:
    if low.reachable:
        _jump_out(low, low.frame.breaks[-1], node.span)


@statement(tree.Continue)
def _continue(low: CLowering, node: tree.Continue) -> None:
    if low.reachable:
        _jump_out(low, low.frame.continues[-1], node.span)


def _jump_out(low: CLowering, label: Label, span: Span) -> None:
    leave_to(low, low.frame.levels[label], span)
    low.go(label, span)


@statement(tree.Switch)
def _switch(low: CLowering, node: tree.Switch) -> None:
    frame, end = low.frame, low.label(node.span)
    cases = _collect_cases(node.body)
    labels = {id(case): low.label(case.span) for case in cases}
    if low.reachable:
        value = low.scalar(node.value)
        held = low.hold(value.expr, node.span, value.type)
        _dispatch(low, node, Scalar(value.type, held), cases, labels, end)
    frame.breaks.append(end)
    frame.levels[end] = len(frame.scopes)
    frame.switches.append(labels)
    low.execute(node.body)
    frame.switches.pop()
    frame.breaks.pop()
    low.put(end, node.span)


def _collect_cases(node: object) -> list[tree.CaseLabel]:
    """The labels that belong to a switch, not to one inside of it."""
    from dataclasses import fields

    found: list[tree.CaseLabel] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.CaseLabel):
            found.append(node)
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, tree.Statement) and not isinstance(node, tree.Switch):
            parts = [getattr(node, each.name) for each in fields(node) if each.name != "span"]
            waiting.extend(reversed(parts))
    return found


def _dispatch(
    low: CLowering,
    node: tree.Switch,
    value: Scalar,
    cases: list[tree.CaseLabel],
    labels: dict[int, Label],
    end: Label,
) -> None:
    """Go to the case of the value, to `default`, or behind the switch."""
    type_ = bare(value.type)
    otherwise = end
    tests: list[Expr] = []
    for case in cases:
        label = labels[id(case)]
        if case.values is None:
            otherwise = label
            continue
        test = _matches(value.expr, case.values, type_ if isinstance(type_, IntegerType) else None)
        if isinstance(test, Const):
            if test.value:
                low.go(label, node.span)
                return
            continue
        low.lead_to(label, node.span)
        text = f"{node.value.text} is {case.values[0]}"
        low.add_edge(Kind.LOCAL, node.span, text, label, guard=test)
        tests.append(test)
    if not tests:
        low.go(otherwise, node.span)
        return
    while len(tests) > 1:  # in pairs, so that the whole is not nested deeply
        pairs = [either(*tests[at : at + 2]) for at in range(0, len(tests) - 1, 2)]
        tests = pairs + tests[len(pairs) * 2 :]
    (taken,) = tests
    low.lead_to(otherwise, node.span)
    low.add_edge(
        Kind.LOCAL, node.span, f"{node.value.text} is another", otherwise, guard=negate(taken)
    )
    low.require_automaton().current = None


def _matches(value: Expr, ends: tuple[int, int], type_: IntegerType | None) -> Expr:
    from mazurka.frontend.c.arithmetic import wrap_number

    if type_ is not None:
        ends = (
            wrap_number(ends[0], type_.bits, type_.signed),
            wrap_number(ends[1], type_.bits, type_.signed),
        )
    if ends[0] == ends[1]:
        return binary("eq", value, Const(ends[0]))
    return both(binary("ge", value, Const(ends[0])), binary("le", value, Const(ends[1])))


@statement(tree.CaseLabel)
def _case(low: CLowering, node: tree.CaseLabel) -> None:
    low.put(low.frame.switches[-1][id(node)], node.span)
    arrive(low, node.span)
    if node.body is not None:
        low.execute(node.body)


@statement(tree.Labelled)
def _labelled(low: CLowering, node: tree.Labelled) -> None:
    label = _label(low, node.name, node.span)
    if node.name in low.survey.facts(low.frame.function).targets:
        low.expect(label)
    low.put(label, node.span)
    arrive(low, node.span)
    if node.body is not None:
        low.execute(node.body)


def _label(low: CLowering, name: str, span: Span) -> Label:
    labels = low.frame.labels
    if name not in labels:
        labels[name] = low.label(span)
    return labels[name]


@statement(tree.Goto)
def _goto(low: CLowering, node: tree.Goto) -> None:
    if low.reachable:
        leave_for_label(low, node.name, node.span)
        low.go(_label(low, node.name, node.span), node.span)


@statement(tree.Return)
def _return(low: CLowering, node: tree.Return) -> None:
    if not low.reachable:
        return
    frame = low.frame
    if node.value is not None:
        value = low.value(node.value)
        if frame.result and low.reachable:
            result = frame.function.type.result  # type: ignore[attr-defined]
            if isinstance(value, Scalar):
                value = convert(low, value, result, node.value)
            place = ObjectPlace(
                result, Const(frame.result[0]), False, f"result of {frame.function.name}"
            )
            write(low, place, value, node.span)
    else:
        end_without_value(low, node.span)
    if low.reachable:
        leave_function(low, frame, node.span)
        low.go(frame.exit, node.span)
