"""`spawn`, `join` and `threading.Thread`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mazurka.frontend.kit.shapes import Blueprint, CellDraft, RecordShape, Reference
from mazurka.frontend.kit.threads import (
    MOST_THREADS,
    Slot,
    create,
    create_in_loop,
    exceed,
    is_alive,
    join,
    start_thread,
)
from mazurka.frontend.python.arguments import (
    advise_not_to_call,
    check_ways,
    evaluate_default,
    match_arguments,
    parameters,
)
from mazurka.frontend.python.lowering import FunctionThread, LocalVariable, Lowering, callable_name
from mazurka.frontend.python.values.assignment import create_object, is_fixed
from mazurka.frontend.python.values.kinds import (
    Function,
    Method,
    Nothing,
    Number,
    Sequence,
    ThreadCall,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.objects import find_method
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Assign, Operation, Role

DAEMON = (
    "daemon threads are not supported: one that waits for ever counts as a deadlock; leave out"
    " `daemon` and let the thread end by itself (a last item in its queue, say)"
)
WRITTEN_OUT = '`kwargs` must be written out: `kwargs={"name": 1}`'


@callable_name("mazurka.model.spawn")
def _spawn(low: Lowering, node: ast.Call) -> Value:
    """Make a thread and start it, in one step."""
    if not node.args:
        raise low.refuse(node, "`spawn` needs a function: `spawn(worker, 1)`")
    function, bound = _function(low, low.value(node.args[0]), node.args[0])
    call = ast.copy_location(ast.Call(node.args[0], node.args[1:], node.keywords), node)
    names = [name for name in parameters(low, function) if name not in bound]
    check_ways(low, function, call, bound)
    given = match_arguments(low, call, names, function.name)
    arguments = bound | {name: low.value(expr) for name, expr in given.items()}
    low.require_automaton()
    return _create(low, function, arguments, node, start=True)


@callable_name("threading.Thread")
def _thread(low: Lowering, node: ast.Call) -> Value:
    given = match_arguments(
        low, node, ("group", "target", "name", "args", "kwargs", "daemon"), "Thread"
    )
    if "target" not in given:
        raise low.refuse(node, "a thread is written `Thread(target=function, args=(...))`")
    if "daemon" in given and low.constant(given["daemon"], "`daemon`"):
        raise low.refuse(node, DAEMON)
    _refuse_call(low, given["target"])
    function, bound = _function(low, low.value(given["target"]), given["target"])
    arguments = bound | _given_arguments(low, function, bound, given, node)
    return _create(low, function, arguments, node, start=False)


def _refuse_call(low: Lowering, target: ast.expr) -> None:
    """Refuse `target=f(1)`, which calls the function at once, in the thread that is here."""
    match target:
        case ast.Call(ast.Name(name) as function, given, keywords) if (
            name in low.program.survey.functions and not keywords
        ):
            items = ", ".join(map(ast.unparse, given)) + ("," if len(given) == 1 else "")
            arguments = f", args=({items})" if given else ""
            raise low.refuse(
                target,
                f"`{ast.unparse(target)}` is called here, not by the new thread; write"
                f" `Thread(target={function.id}{arguments})`",
            )


def _given_arguments(
    low: Lowering,
    function: ast.FunctionDef,
    bound: dict[str, Value],
    given: dict[str, ast.expr],
    node: ast.Call,
) -> dict[str, Value]:
    """Evaluate what `args` and `kwargs` of a Thread stand for, by name."""
    names = [name for name in parameters(low, function) if name not in bound]
    arguments: dict[str, Value] = {}
    if "args" in given:
        values = low.value(given["args"])
        if not isinstance(values, Sequence):
            raise low.refuse(given["args"], "`args` must be a tuple: `args=(1,)`")
        named = {argument.arg for argument in function.args.kwonlyargs}
        plain = [name for name in names if name not in named]
        count = len(values.items)
        if count > len(plain):
            raise low.refuse(node, f"`{function.name}` takes {len(plain)} arguments, not {count}")
        arguments = dict(zip(plain, values.items, strict=False))
    if "kwargs" in given:
        for name, expr in _read_keywords(low, given["kwargs"]):
            if name not in names or name in arguments:
                raise low.refuse(expr, f"`{function.name}` cannot be given `{name}` here")
            arguments[name] = low.value(expr)
    return arguments


def _read_keywords(low: Lowering, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Dict):
        raise low.refuse(node, WRITTEN_OUT)
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            raise low.refuse(node, WRITTEN_OUT)
        yield key.value, value


def _function(
    low: Lowering, value: Value, node: ast.AST
) -> tuple[ast.FunctionDef, dict[str, Value]]:
    """Find what a thread is to run, and the `self` that a method has already."""
    match value:
        case Function(definition):
            return definition, {}
        case Method(Reference(RecordShape() as shape) as owner, name):
            method = find_method(low, shape, name, node)
            return method, {method.args.args[0].arg: owner}
        case _:
            given = kind_of(value) + advise_not_to_call(low, node)
            raise low.refuse(node, f"a thread runs a function of the model, not {given}")


def _create(
    low: Lowering, function: ast.FunctionDef, given: dict[str, Value], node: ast.AST, *, start: bool
) -> Value:
    arguments = _complete(low, function, given, node)
    span, name = low.span(node), function.name
    left = low.program.max_threads
    if name in low.lineage:  # threads that make threads of their own kind stop at the limit
        left -= sum(plan.function is function for plan in low.program.plans)
    if low.loop_depth:

        def make_slot() -> Slot:
            return _slot(low, function, arguments, node, fixed=False)

        return ThreadHandle(create_in_loop(low, span, name, max(0, left), make_slot, start=start))
    if left <= 0:
        exceed(low, span, name)
        return ThreadHandle(ZERO)
    slot = _slot(low, function, arguments, node)
    return ThreadHandle(create(low, span, name, slot, start=start))


def start_listed(low: Lowering, call: ThreadCall, node: ast.AST) -> None:
    """Make and start a thread of the `threads` list while the program runs."""
    _create(low, call.function.definition, dict(call.arguments), node, start=True)


def _complete(
    low: Lowering, function: ast.FunctionDef, given: dict[str, Value], node: ast.AST
) -> dict[str, Value]:
    """Add defaults to the arguments; objects among them become visible to two threads."""
    arguments: dict[str, Value] = {}
    for name, default in parameters(low, function).items():
        if name in given:
            value = given[name]
        elif default is not None:
            value = evaluate_default(low, default)
        else:
            raise low.refuse(node, f"`{function.name}` needs a value for `{name}`")
        if isinstance(value, Blueprint):
            value = create_object(low, name, value, node)
        if isinstance(value, Reference) and not value.shared:
            low.program.found_escaping.add(low.number)
        if isinstance(value, Sequence):
            _share_items(low, value)
        arguments[name] = value
    return arguments


def _share_items(low: Lowering, value: Sequence) -> None:
    for item in value.items:
        if isinstance(item, Reference) and not item.shared:
            low.program.found_escaping.add(low.number)


def _slot(
    low: Lowering,
    function: ast.FunctionDef,
    arguments: dict[str, Value],
    node: ast.AST,
    *,
    fixed: bool = True,
) -> Slot:
    """Plan a thread that waits to be started; arguments that vary get cells of its own."""
    model = low.program
    number = len(model.plans)
    if number >= MOST_THREADS:
        raise low.refuse(node, f"the model has more than {MOST_THREADS} threads")
    bound: dict[str, LocalVariable | Value] = {}
    stores = model.facts_of(function).stores
    for name, value in arguments.items():
        if fixed and is_fixed(value) and name not in stores:
            bound[name] = value
        else:
            initial = low.automaton is None
            bound[name] = add_parameter_cell(low, name, value, number, node, initial=initial)
    title = title_thread(function, arguments)
    lineage = low.lineage | {function.name}
    plan = FunctionThread(number, title, low.span(node), False, function, bound, lineage)
    model.plans.append(plan)
    return plan, _hand_over(plan, arguments)


def title_thread(function: ast.FunctionDef, arguments: dict[str, Value]) -> str:
    shown = []
    for value in arguments.values():
        match value:
            case Number(Const(number), boolean):
                shown.append(str(bool(number)) if boolean else str(number))
            case Reference(_, Const(), _, title):
                shown.append(title)
            case _:
                return function.name
    return f"{function.name}({', '.join(shown)})" if shown else function.name


def add_parameter_cell(
    low: Lowering, name: str, value: Value, number: int, node: ast.AST, *, initial: bool
) -> LocalVariable:
    """Add a cell for an argument of a thread; with `initial` it holds the value at first."""
    role, target = Role.INT, None
    match value:
        case Number(expr, boolean):
            role = Role.BOOL if boolean else Role.INT
        case Reference(shape, expr, _):
            role, target = Role.POINTER, shape
        case ThreadHandle(expr):
            role = Role.HANDLE
        case _:
            raise low.refuse(node, f"a thread made here cannot get {kind_of(value)}")
    first = expr.value if initial and isinstance(expr, Const) else 0
    cell = CellDraft(name, 0, 0, first, number, role, inferred=True, span=low.span(node))
    return LocalVariable(name, low.program.storage.add(cell), role, target)


def _hand_over(plan: FunctionThread, arguments: dict[str, Value]) -> tuple[Operation, ...]:
    """Write the arguments that have cells."""
    operations: list[Operation] = []
    for name, variable in plan.arguments.items():
        if isinstance(variable, LocalVariable):
            match arguments[name]:
                case Number(expr) | Reference(_, expr) | ThreadHandle(expr):
                    operations.append(Assign(Const(variable.cell), expr))
    return tuple(operations)


@callable_name("mazurka.model.join")
def _join(low: Lowering, node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise low.refuse(node, "`join` takes one thread: `join(handle)`")
    value = low.value(node.args[0])
    if not isinstance(value, ThreadHandle):
        raise low.refuse(node, f"`join` needs a thread, not {kind_of(value)}")
    join(low, low.span(node), value.expr, ast.unparse(node.args[0]))
    return Nothing()


def call_handle(low: Lowering, handle: Expr, name: str, node: ast.Call) -> Value:
    """Call a method of `threading.Thread`."""
    assert isinstance(node.func, ast.Attribute)
    span, title = low.span(node), ast.unparse(node.func.value)
    if name == "join":
        if node.args or node.keywords:
            raise low.refuse(node, "`join` with a timeout is not supported; use `join()`")
        join(low, span, handle, title)
        return Nothing()
    if node.args or node.keywords:
        raise low.refuse(node, f"`{name}` of a thread takes no arguments")
    if name == "start":
        start_thread(low, span, handle, title)
        return Nothing()
    if name == "is_alive":
        return Number(is_alive(low, span, handle, title), boolean=True)
    raise low.refuse(
        node, f"a thread has no operation `{name}` in models; it has start, join, is_alive"
    )
