"""Statements other than loops: assignments, branches, `return`, and blocks.

Blocks are `with` (locks, `atomic()` sections) and `try ... finally`; jumps lead out of them.
"""

from __future__ import annotations

import ast
from functools import partial

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.program import Label
from mazurka.frontend.kit.shapes import BOOLEAN, NumberShape, Reference, SyncShape
from mazurka.frontend.python.annotations import RangeCheck
from mazurka.frontend.python.expressions import arithmetic, as_number, branch_on
from mazurka.frontend.python.lowering import CALLS, LocalVariable, Lowering, statement
from mazurka.frontend.python.primitives.methods import find_methods
from mazurka.frontend.python.survey import find_leaving_jump, lists_calls
from mazurka.frontend.python.values.assignment import (
    assign,
    assign_name,
    bind_cell,
    check_frozen,
    settle,
)
from mazurka.frontend.python.values.kinds import (
    Function,
    Guard,
    Imported,
    Method,
    Nothing,
    Number,
    Sequence,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.owned import is_record_value, is_tuple_value, own_value
from mazurka.ir.expressions import Const
from mazurka.ir.program import Check, Fault, Kind

RESULT = "result of the call"
"""Where several `return`s leave their values; no identifier is spelt like this."""
INERT = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.Tuple, ast.List),
    *(ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp),
    *(ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop, ast.operator),
)
"""The parts of an expression that changes nothing."""


@statement(ast.Pass)
def _pass(low: Lowering, node: ast.Pass) -> None:
    """Do nothing: `pass` takes no step."""


@statement(ast.Global)
def _global(low: Lowering, node: ast.Global) -> None:
    """Do nothing: the survey has seen `global`."""


@statement(ast.Expr)
def _expression(low: Lowering, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):  # a docstring, or `...`
        return
    if not isinstance(node.value, ast.Call):
        if isinstance(low.designate(node.value), Function | Method):
            text = ast.unparse(node.value)
            raise low.refuse(node, f"`{text}` alone does nothing; call it: `{text}()`")
        if all(isinstance(part, INERT) for part in ast.walk(node.value)):
            raise low.refuse(node, advise_on_inert(node.value))
        return
    low.value(node.value)


def advise_on_inert(node: ast.expr) -> str:
    """Say that an expression alone does nothing, and what may have been meant."""
    text = ast.unparse(node)
    meant = "leave it out"
    match node:
        case ast.Compare(
            ast.Name() | ast.Attribute() | ast.Subscript() as place, [ast.Eq()], [new]
        ):
            assigned = f"{ast.unparse(place)} = {ast.unparse(new)}"
            meant = f"`{assigned}` assigns, `assert {text}` checks"
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
            meant = f"`assert {text}` checks it"
    return f"`{text}` alone does nothing; {meant}"


@statement(ast.Assign)
def _assign(low: Lowering, node: ast.Assign) -> None:
    value = low.value(node.value)
    if not low.reachable:
        return
    _check_threads(low, node, value)
    if len(node.targets) > 1 and not isinstance(value, Number):
        raise low.refuse(node, "only numbers can be assigned to several targets at once")
    if len(node.targets) > 1:
        value = settle(low, value, node)
    for target in node.targets:
        assign(low, target, value, node)


def _check_threads(low: Lowering, node: ast.Assign, value: Value) -> None:
    """Refuse a list called `threads` whose calls have been made here, one after the other."""
    named = any(isinstance(target, ast.Name) and target.id == "threads" for target in node.targets)
    if not named or not lists_calls(node.value) or not isinstance(value, Sequence):
        return
    if not all(isinstance(item, ThreadHandle) for item in value.items):
        raise low.refuse(
            node,
            "these calls run here, one after the other; `threads = [...]` starts threads at module"
            " level only (outside loops and blocks), `Thread(target=function)` anywhere",
        )


@statement(ast.AugAssign)
def _augmented(low: Lowering, node: ast.AugAssign) -> None:
    """Read, compute and write: `x += 1` is three things, as in Python."""
    check_frozen(low, node.target)
    place = low.designate(node.target)
    if isinstance(place, Reference) and isinstance(place.shape, NumberShape):
        old = low.read(place, node).expr
        new = arithmetic(low, node.op, old, low.number_of(node.value), node)
        low.store(place, new, low.span(node))
    elif not isinstance(node.target, ast.Name):
        assign(low, node.target, place, node)  # which refuses it: this is no place
    else:
        name = node.target.id
        old = as_number(low, place, node.target)
        new = arithmetic(low, node.op, old, low.number_of(node.value), node)
        assign_name(low, name, Number(new), node)


@statement(ast.AnnAssign)
def _annotated(low: Lowering, node: ast.AnnAssign) -> None:
    shape = declared_shape(low, node.annotation)
    if not isinstance(node.target, ast.Name):
        if shape is not None:
            target = ast.unparse(node.target)
            raise low.refuse(node, f"declare the range of `{target}` in its class or in `__init__`")
        if node.value is not None:
            assign(low, node.target, low.value(node.value), node)
        return
    name = node.target.id
    value = low.value(node.value) if node.value is not None else None
    if shape is None or not low.frame.facts.is_local(name):
        if value is not None:
            assign_name(low, name, value, node)
        return
    if value is not None and not isinstance(value, Number):
        raise low.refuse(node, f"`{name}` is declared as {shape.title} but gets {kind_of(value)}")
    declare_range(low, name, shape, node)
    if value is not None:
        bind_cell(low, name, value, node)


def declare_range(low: Lowering, name: str, shape: NumberShape, node: ast.AST) -> None:
    """Make the cell of a local variable, with its declared range."""
    if name in low.frame.variables and low.unrolled == low.frame.unrolled:
        raise low.refuse(node, f"declare the range of `{name}` where it is first assigned")
    if name in low.frame.variables:
        return
    cell = low.add_local(name, low.span(node), shape.role)
    draft = low.program.storage.cells[cell]
    draft.low, draft.high, draft.inferred = shape.low, shape.high, shape.inferred
    draft.initial = min(max(0, shape.low), shape.high)
    low.frame.variables[name] = LocalVariable(name, cell, shape.role)


def declared_shape(low: Lowering, annotation: ast.expr) -> NumberShape | None:
    """Find the range an annotation declares; None for those that say nothing about ranges."""
    if id(annotation) in low.program.ranges:
        return low.program.ranges[id(annotation)]
    match annotation:
        case ast.Subscript(ast.Name() | ast.Attribute() as base):
            is_range = _imported(low, base) == "mazurka.model.Int"
        case ast.Name() | ast.Attribute():
            path = _imported(low, annotation)
            return BOOLEAN if path == "mazurka.model.Bool" else None
        case _:
            return None
    if not is_range:
        return None
    shape = low.value(annotation)
    assert isinstance(shape, NumberShape)
    return shape


def _imported(low: Lowering, node: ast.expr) -> str:
    """Find the full name of something imported; empty for anything else."""
    if isinstance(node, ast.Name):
        found = low.program.globals.get(node.id)
        return found.path if isinstance(found, Imported) else ""
    if isinstance(node, ast.Attribute):
        owner = _imported(low, node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


@statement(RangeCheck)
def check_parameter(low: Lowering, node: RangeCheck) -> None:
    """Check that the caller's value is in the range of a parameter."""
    shape, name = declared_shape(low, node.annotation), node.value.id
    assert shape is not None
    value = low.value(node.value)
    if not isinstance(value, Number):
        raise low.refuse(node, f"`{name}` is declared as {shape.title} but gets {kind_of(value)}")
    inside = binary(
        "and",
        binary("le", Const(shape.low), value.expr),
        binary("le", value.expr, Const(shape.high)),
    )
    message = f"the argument `{name}` is outside {shape.title}"
    if isinstance(inside, Const) and inside.value:
        return
    if low.automaton is None:
        raise low.refuse(node, message)
    check = Check(inside, Fault.RANGE, message)
    low.step(
        Kind.ASSERT, low.span(node), f"{name}: {ast.unparse(node.annotation)}", operations=(check,)
    )


@statement(ast.If)
def _if(low: Lowering, node: ast.If) -> None:
    automaton = low.require_automaton()
    span = low.span(node)
    true, false, end = (automaton.new_label(span) for _ in range(3))
    branch_on(low, node.test, true, false)
    both_ways = true.bound is not None and false.bound is not None
    low.uncertain += both_ways
    for label, body in ((true, node.body), (false, node.orelse)):
        automaton.place(label, span)
        if low.reachable:
            low.execute(body)
        if low.reachable:
            automaton.jump(end, span)
    low.uncertain -= both_ways
    automaton.place(end, span)


@statement(ast.Return)
def _return(low: Lowering, node: ast.Return) -> None:
    frame = low.frame
    value: Value = low.value(node.value) if node.value is not None else Nothing()
    if not low.reachable:
        return
    if frame.exit is None:
        raise low.refuse(node, "`return` outside a function")
    last = low.certain and frame.facts.body[-1] is node and frame.result is None
    if last and not isinstance(value, Nothing):
        frame.result = value
        low.mark_bound(RESULT)
    elif not isinstance(value, Nothing):
        _keep_result(low, value, node)
    leave_to(low, frame.exit, frame.cleanups, node)


def _keep_result(low: Lowering, value: Value, node: ast.AST) -> None:
    """Keep a result in the variable that all `return`s of the function share."""
    if is_record_value(low, value) or is_tuple_value(value):
        own_value(low, RESULT, value, node, same_kind=True)
    else:
        bind_cell(low, RESULT, value, node)
    low.frame.result = low.frame.variables[RESULT]


@statement(ast.With)
def _with(low: Lowering, node: ast.With) -> None:
    _enter_items(low, node, list(node.items))


def _enter_items(low: Lowering, node: ast.With, items: list[ast.withitem]) -> None:
    if not items:
        low.execute(node.body)
        return
    first, *rest = items
    if first.optional_vars is not None:
        raise low.refuse(
            first.context_expr, "`with ... as` has no use here; leave out the `as` part"
        )
    if _is_atomic(low, first.context_expr):
        _atomic(low, node, rest)
    else:
        _guarded(low, node, first.context_expr, rest)


def _is_atomic(low: Lowering, node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    is_name = isinstance(called, ast.Name | ast.Attribute)
    if not is_name or low.designate(called) != Imported("mazurka.model.atomic"):
        return False
    if not isinstance(node, ast.Call):
        raise low.refuse(node, "write `with atomic():`, with parentheses")
    return True


def _atomic(low: Lowering, node: ast.With, rest: list[ast.withitem]) -> None:
    """Make one step of the section; a section inside another adds nothing."""
    automaton = low.require_automaton()
    if automaton.atomic_depth == 0:
        low.atomic_loops = low.loop_depth
        automaton.atomic_depth = 1
        low.step(Kind.ATOMIC, low.span(node), "atomic", atomic=True)
        automaton.atomic_depth = 0
    automaton.atomic_depth += 1
    leave = partial(_end_atomic, low, node)
    low.cleanups.append(leave)
    _enter_items(low, node, rest)
    low.cleanups.pop()
    leave()


def _end_atomic(low: Lowering, node: ast.With) -> None:
    automaton = low.require_automaton()
    automaton.atomic_depth -= 1
    if automaton.atomic_depth == 0 and low.reachable:
        outside = automaton.new_label(low.span(node))
        automaton.jump(outside, low.span(node))
        automaton.place(outside, low.span(node))


def _guarded(low: Lowering, node: ast.With, expr: ast.expr, rest: list[ast.withitem]) -> None:
    match expr:
        case ast.Call(ast.Attribute(lock, "acquire")):
            raise low.refuse(
                expr, f"`with` acquires and releases the lock: `with {ast.unparse(lock)}:`"
            )
    value = low.value(expr)
    if isinstance(value, Reference):
        value = Guard(value)
    if not isinstance(value, Guard) or not isinstance(value.owner.shape, SyncShape):
        hint = ""
        if isinstance(value, Imported) and value.path in CALLS:
            hint = f"; make one: `{ast.unparse(expr)} = {value.path.rpartition('.')[2]}()`"
        raise low.refuse(
            expr, f"`with {ast.unparse(expr)}` needs a lock; this is {kind_of(value)}{hint}"
        )
    if not low.reachable:
        return
    methods = find_methods(value.owner.shape)
    guard = Guard(low.pin(value.owner, low.span(expr)), value.mode)
    methods.enter(low, guard, expr)
    leave = partial(methods.leave, low, guard, expr)
    low.cleanups.append(leave)
    _enter_items(low, node, rest)
    low.cleanups.pop()
    if low.reachable:
        leave()


@statement(ast.Try)
def _try(low: Lowering, node: ast.Try) -> None:
    """Copy the `finally` part to every place where the block is left."""
    if node.handlers:
        raise low.refuse(
            node.handlers[0],
            "models cannot catch exceptions: one that could happen is reported as a violation; test"
            " with `if` beforehand (`try ... finally` is fine)",
        )
    _check_stays(low, node.finalbody)
    finish = partial(_finally, low, node)
    low.cleanups.append(finish)
    low.execute(node.body)
    low.cleanups.pop()
    if low.reachable:
        finish()


def _finally(low: Lowering, node: ast.Try) -> None:
    """Elaborate a copy of the `finally` part.

    Variables keep to cells, as in unrolled loops: other copies assign them too.
    """
    low.unrolled += 1
    low.uncertain += 1
    low.execute(node.finalbody)
    low.uncertain -= 1
    low.unrolled -= 1


def _check_stays(low: Lowering, body: list[ast.stmt]) -> None:
    jump = find_leaving_jump(body)
    if jump is not None:
        word = type(jump).__name__.lower()
        raise low.refuse(
            jump, f"`{word}` inside `finally` would drop what is going on; put it behind the `try`"
        )


def leave_to(low: Lowering, target: Label, height: int, node: ast.AST) -> None:
    """Jump out of the blocks above `height`, leaving each, innermost first."""
    automaton = low.require_automaton()
    depth, saved = automaton.atomic_depth, low.cleanups
    for top in range(len(saved) - 1, height - 1, -1):
        low.cleanups = saved[:top]
        if low.reachable:
            saved[top]()
    if low.reachable:
        automaton.jump(target, low.span(node))
    low.cleanups, automaton.atomic_depth = saved, depth
