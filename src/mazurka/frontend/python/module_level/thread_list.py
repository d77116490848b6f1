"""The `threads` list of a model: each call in it is a thread, not a call made here."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mazurka.frontend.kit.shapes import RecordShape, Reference, SyncShape
from mazurka.frontend.python.arguments import bind_parameters
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, statement
from mazurka.frontend.python.primitives.threads import start_listed
from mazurka.frontend.python.values.containers import list_comprehended
from mazurka.frontend.python.values.kinds import Function, Method, ThreadCall, kind_of
from mazurka.frontend.python.values.objects import find_method
from mazurka.ir.expressions import Const

EXAMPLE = "`threads = [worker(i) for i in range(2)]`"


class StartThreads(ast.stmt):
    """Added to the statements of `main` for a list that only it can evaluate."""

    _fields = ("value",)
    value: ast.expr


def collect_threads(low: Lowering, expr: ast.expr, known: Sequence[ThreadCall]) -> list[ThreadCall]:
    """Evaluate a `threads` list from left to right; `known` is what `threads` stands for in it."""
    match expr:
        case ast.List(items) | ast.Tuple(items):
            return [found for item in items for found in _collect_item(low, item, known)]
        case ast.ListComp(item):
            return list_comprehended(low, expr, lambda: _make_entry(low, item))
        case ast.BinOp(left, ast.Add(), right):
            return [*collect_threads(low, left, known), *collect_threads(low, right, known)]
        case ast.IfExp(test, body, orelse):
            return collect_threads(low, body if _is_true(low, test) else orelse, known)
        case ast.Name("threads") if known:
            return list(known)
        case _:
            raise low.refuse(
                expr,
                f"`threads` must be a list of calls such as {EXAMPLE}; `{ast.unparse(expr)}` is"
                " none",
            )


def _collect_item(
    low: Lowering, item: ast.expr, known: Sequence[ThreadCall]
) -> Sequence[ThreadCall]:
    if isinstance(item, ast.Starred):
        return collect_threads(low, item.value, known)
    return [_make_entry(low, item)]


def _is_true(low: Lowering, test: ast.expr) -> bool:
    known = truth_of(low, low.value(test), test)
    if not isinstance(known, Const):
        raise low.refuse(
            test, f"which threads there are must be known; `{ast.unparse(test)}` is not"
        )
    return known.value != 0


def _make_entry(low: Lowering, node: ast.expr) -> ThreadCall:
    """Evaluate the arguments of a call in the list, without making the call."""
    if isinstance(node, ast.IfExp):
        return _make_entry(low, node.body if _is_true(low, node.test) else node.orelse)
    if not isinstance(node, ast.Call):
        raise _refuse(low, node, kind_of(low.value(node)))
    called = low.designate(node.func)
    match called:
        case Function(definition):
            values = bind_parameters(low, definition, node, {})
        case Method(Reference(RecordShape() as shape) as owner, name):
            definition = find_method(low, shape, name, node)
            values = bind_parameters(low, definition, node, {definition.args.args[0].arg: owner})
        case Method(Reference(SyncShape() as shape)):
            raise low.refuse(
                node,
                f"a thread runs a function of the model, not a method of a {shape.title}; write a"
                f" function that calls `{ast.unparse(node)}`, and put its call into the list",
            )
        case Method():
            raise _refuse(low, node, kind_of(called))
        case _:
            raise _refuse(low, node, kind_of(low.value(node)))
    return ThreadCall(Function(definition), values)


def _refuse(low: Lowering, node: ast.expr, found: str) -> Exception:
    return low.refuse(
        node, f"`threads` must be a list of calls such as {EXAMPLE}; it contains {found}"
    )


@statement(StartThreads)
def _start(low: Lowering, node: StartThreads) -> None:
    """Start the threads of the list from `main`, with the arguments of this moment."""
    for call in collect_threads(low, node.value, ()):
        if low.reachable:
            start_listed(low, call, node)
