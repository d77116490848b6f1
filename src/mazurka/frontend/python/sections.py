"""`with` blocks (locks, `atomic()` sections), `try ... finally`, and jumps out of them."""

from __future__ import annotations

import ast
from functools import partial

from mazurka.frontend.kit.automaton import Label
from mazurka.frontend.kit.shapes import Reference, SyncShape
from mazurka.frontend.python.lowering import CALLS, Lowering, statement
from mazurka.frontend.python.primitives.methods import find_methods
from mazurka.frontend.python.survey import find_leaving_jump
from mazurka.frontend.python.values import Guard, Imported, kind_of
from mazurka.ir.program import Kind


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
