"""Inline calls of functions and methods, each time with fresh variables."""

from __future__ import annotations

import ast

from mazurka.frontend.kit.shapes import RecordShape, Reference, SyncShape
from mazurka.frontend.python.arguments import bind_parameters
from mazurka.frontend.python.lowering import (
    CALLS,
    Activation,
    LocalParts,
    LocalVariable,
    Lowering,
    expression,
)
from mazurka.frontend.python.primitives.methods import find_methods
from mazurka.frontend.python.primitives.threads import call_handle
from mazurka.frontend.python.statements import RESULT
from mazurka.frontend.python.survey import walk_own_nodes
from mazurka.frontend.python.values.assignment import (
    bind_parameter,
    copy_to_cell,
    point_to_parameter,
)
from mazurka.frontend.python.values.kinds import (
    Closure,
    Function,
    Imported,
    Method,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.objects import find_method, instantiate
from mazurka.ir.expressions import Const
from mazurka.ir.program import Fault


@expression(ast.Call)
def _call(low: Lowering, node: ast.Call) -> Value:
    called = low.designate(node.func)
    match called:
        case Imported(path):
            if path not in CALLS:
                raise low.refuse(
                    node, f"`{path.removeprefix('builtins.')}` cannot be called in a model"
                )
            return CALLS[path](low, node)
        case Function(definition):
            return _call_function(low, definition, node)
        case RecordClass(definition):
            return instantiate(low, definition, node)
        case Method(owner, name):
            return _call_method(low, owner, name, node)
        case _:
            raise low.refuse(node, f"{kind_of(called)} cannot be called")


def _call_function(low: Lowering, definition: ast.FunctionDef, node: ast.Call) -> Value:
    values = bind_parameters(low, definition, node, {})
    return inline(low, definition, values, node)


def _call_method(low: Lowering, owner: Value, name: str, node: ast.Call) -> Value:
    match owner:
        case Reference(SyncShape() as shape):
            return find_methods(shape).call(low, owner, name, node)
        case Reference(RecordShape() as shape):
            method = find_method(low, shape, name, node)
            values = bind_parameters(low, method, node, {method.args.args[0].arg: owner})
            return inline(low, method, values, node)
        case ThreadHandle(expr):
            return call_handle(low, expr, name, node)
        case Sequence() if name == "append":
            return _append(low, owner, node)
        case _:
            raise low.refuse(node, f"{kind_of(owner)} has no method `{name}` in models")


def _append(low: Lowering, owner: Sequence, node: ast.Call) -> Value:
    certain = owner.origin == (low.frame, low.uncertain) if low.frames else False
    if not owner.growing or len(node.args) != 1 or node.keywords:
        raise low.refuse(node, "only a list made in this function can be appended to")
    value = low.value(node.args[0])
    if isinstance(value, Nothing):
        raise low.refuse(
            node,
            f"`{ast.unparse(node.args[0])}` runs here at once and returns nothing; to make a list"
            " of threads, append `Thread(target=function)`",
        )
    if not certain:
        raise low.refuse(
            node,
            "a list can be appended to only where that surely happens (not in `while`, not under"
            " an `if`); use an Array, or a Queue",
        )
    if isinstance(value, Number):
        raise low.refuse(node, "a list of numbers cannot grow; use an Array, or a Queue")
    value = copy_to_cell(low, "item", value, node)
    owner.items.append(value)
    return Nothing()


def inline(
    low: Lowering, definition: ast.FunctionDef, values: dict[str, Value], node: ast.AST
) -> Value:
    """Elaborate the body of the function in place of its call."""
    automaton = low.require_automaton()
    if not low.reachable:
        return Number(Const(0))
    _check_definition(low, definition)
    depth = low.program.max_depth
    if sum(frame.facts.body is definition.body for frame in low.frames) >= depth:
        message = f"recursion of {definition.name} is deeper than {depth} calls (--max-depth)"
        low.fail(Fault.BOUND, message, low.span(node))
        return Number(Const(0))
    frame = new_frame(low, definition)
    frame.exit = automaton.new_label(low.span(node))
    overlay, low.overlay = low.overlay, {}
    for parameter, value in values.items():
        bind_parameter(low, frame, parameter, value, node)
        point_to_parameter(low, frame, parameter, definition)
    low.frames.append(frame)
    for parameter in values:
        low.mark_bound(parameter)
    low.execute(definition.body)
    automaton.place(frame.exit, low.span(node))
    returned = low.is_bound(RESULT)
    low.frames.pop()
    low.overlay = overlay
    return _result(low, frame, definition, returned)


def _result(low: Lowering, frame: Activation, definition: ast.FunctionDef, returned: bool) -> Value:
    if not low.reachable:
        return Number(Const(0))
    if not returned or frame.result is None:
        return Nothing(definition if frame.result or _may_return(definition) else None)
    if isinstance(frame.result, LocalVariable | LocalParts):
        return frame.result.fetch()
    return frame.result


def _may_return(definition: ast.FunctionDef) -> bool:
    """Whether the text of a function has a `return` with a value, which may be out of reach."""
    return any(
        isinstance(node, ast.Return)
        and node.value is not None
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
        for node in walk_own_nodes(definition.body)
    )


def new_frame(low: Lowering, definition: ast.FunctionDef) -> Activation:
    low.program.frames += 1
    return Activation(
        low.program.frames,
        definition.name,
        low.program.facts_of(definition),
        cleanups=len(low.cleanups),
        uncertain=low.uncertain,
        unrolled=low.unrolled,
    )


def _check_definition(low: Lowering, definition: ast.FunctionDef) -> None:
    if definition.decorator_list:
        raise low.refuse(definition, f"the decorators of `{definition.name}` are not supported")


def call_predicate(low: Lowering, function: Value, node: ast.AST) -> Value:
    """Call a predicate without arguments (the argument of `wait_for`)."""
    match function:
        case Closure(definition):
            if ast.unparse(definition.args):
                raise low.refuse(node, "the predicate of `wait_for` takes no arguments")
            return low.value(definition.body)
        case Function(definition):
            return inline(low, definition, {}, node)
        case Method(Reference(RecordShape() as shape) as owner, name):
            method = find_method(low, shape, name, node)
            return inline(low, method, {method.args.args[0].arg: owner}, node)
        case _:
            raise low.refuse(
                node, f"{kind_of(function)} is no predicate; give a function or a lambda"
            )
