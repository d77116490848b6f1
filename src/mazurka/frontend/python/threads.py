"""Threads: the `threads` list, and threads made while the program runs.

Every place in the code that makes a thread has its own slots, fixed before the program runs: one
where the place runs once, up to `max_threads` where it is in a loop that may go on.  A slot is a
thread that stands idle until it is started; it is not used again.  A thread's handle is its number
plus one, which is also the address of its program counter, so any handle can be started.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import INTEGER, Blueprint, RecordShape
from mazurka.frontend.python.arguments import match_arguments, parameters, static_default, uncalled
from mazurka.frontend.python.assignment import create_object, is_fixed
from mazurka.frontend.python.context import ThreadPlan, Variable
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.records import find_method
from mazurka.frontend.python.sync import inspect
from mazurka.frontend.python.values import (
    Function,
    Handle,
    Method,
    Nothing,
    Number,
    Reference,
    Sequence,
    Value,
    kind_of,
)
from mazurka.ir.expressions import ZERO, Const, Expr, Load
from mazurka.ir.program import (
    FIRST_LOCATION,
    IDLE,
    Assign,
    Check,
    Fault,
    Kind,
    Operation,
    Role,
)

NEW, STARTED, DONE = 0, 1, 2
"""A thread's status, kept where some thread is joined or asked whether it is alive."""

MOST_THREADS = 256

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
    given = match_arguments(low, call, names, function.name)
    arguments = bound | {name: low.value(expr) for name, expr in given.items()}
    low.building(node)
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
    function, bound = _function(low, low.value(given["target"]), given["target"])
    arguments = bound | _given_arguments(low, function, bound, given, node)
    return _create(low, function, arguments, node, start=False)


def _given_arguments(
    low: Lowering,
    function: ast.FunctionDef,
    bound: dict[str, Value],
    given: dict[str, ast.expr],
    node: ast.Call,
) -> dict[str, Value]:
    """What `args` and `kwargs` of a Thread stand for, by name."""
    names = [name for name in parameters(low, function) if name not in bound]
    arguments: dict[str, Value] = {}
    if "args" in given:
        values = low.value(given["args"])
        if not isinstance(values, Sequence):
            raise low.refuse(given["args"], "`args` must be a tuple: `args=(1,)`")
        count = len(values.items)
        if count > len(names):
            raise low.refuse(node, f"`{function.name}` takes {len(names)} arguments, not {count}")
        arguments = dict(zip(names, values.items, strict=False))
    if "kwargs" in given:
        for name, expr in _keywords(low, given["kwargs"]):
            if name not in names or name in arguments:
                raise low.refuse(expr, f"`{function.name}` cannot be given `{name}` here")
            arguments[name] = low.value(expr)
    return arguments


def _keywords(low: Lowering, node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Dict):
        raise low.refuse(node, WRITTEN_OUT)
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            raise low.refuse(node, WRITTEN_OUT)
        yield key.value, value


def _function(
    low: Lowering, value: Value, node: ast.AST
) -> tuple[ast.FunctionDef, dict[str, Value]]:
    """What a thread is to run, and the `self` that a method has already."""
    match value:
        case Function(definition):
            return definition, {}
        case Method(Reference(RecordShape() as shape) as owner, name):
            method = find_method(low, shape, name, node)
            return method, {method.args.args[0].arg: owner}
        case _:
            given = kind_of(value) + uncalled(low, node)
            raise low.refuse(node, f"a thread runs a function of the model, not {given}")


def _create(
    low: Lowering, function: ast.FunctionDef, given: dict[str, Value], node: ast.AST, *, start: bool
) -> Value:
    arguments = _complete(low, function, given, node)
    if low.loop_depth:
        return _create_often(low, function, arguments, node, start=start)
    if _lineage_full(low, function):
        _too_many(low, function, node)
        return Handle(ZERO)
    plan = _slot(low, function, arguments, node)
    operations = _hand_over(plan, arguments) + (_starting(low, plan) if start else ())
    if operations:
        _creation(low, function, node, operations)
    return Handle(Const(plan.number + 1))


def _complete(
    low: Lowering, function: ast.FunctionDef, given: dict[str, Value], node: ast.AST
) -> dict[str, Value]:
    """All arguments, with defaults; objects among them are visible to two threads."""
    arguments: dict[str, Value] = {}
    for name, default in parameters(low, function).items():
        if name in given:
            value = given[name]
        elif default is not None:
            value = static_default(low, default)
        else:
            raise low.refuse(node, f"`{function.name}` needs a value for `{name}`")
        if isinstance(value, Blueprint):
            value = create_object(low, name, value, node)
        if isinstance(value, Reference) and not value.shared:
            low.model.found_escaping.add(low.number)
        if isinstance(value, Sequence):
            _share_items(low, value)
        arguments[name] = value
    return arguments


def _share_items(low: Lowering, value: Sequence) -> None:
    for item in value.items:
        if isinstance(item, Reference) and not item.shared:
            low.model.found_escaping.add(low.number)


def _lineage_full(low: Lowering, function: ast.FunctionDef) -> bool:
    """Threads that make threads of their own kind stop at the limit."""
    running = sum(plan.function is function for plan in low.model.plans)
    return function.name in low.lineage and running >= low.model.options.max_threads


def _slot(
    low: Lowering,
    function: ast.FunctionDef,
    arguments: dict[str, Value],
    node: ast.AST,
    *,
    fixed: bool = True,
) -> ThreadPlan:
    """A thread that waits to be started; arguments that vary get cells of its own."""
    model = low.model
    number = len(model.plans)
    if number >= MOST_THREADS:
        raise low.refuse(node, f"the model has more than {MOST_THREADS} threads")
    bound: dict[str, Variable | Value] = {}
    stores = model.facts_of(function).stores
    for name, value in arguments.items():
        if fixed and is_fixed(value) and name not in stores:
            bound[name] = value
        else:
            initial = low.automaton is None
            bound[name] = parameter_cell(low, name, value, number, node, initial=initial)
    title = thread_title(function, arguments)
    lineage = low.lineage | {function.name}
    plan = ThreadPlan(number, title, function, bound, low.span(node), False, lineage)
    model.plans.append(plan)
    return plan


def thread_title(function: ast.FunctionDef, arguments: dict[str, Value]) -> str:
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


def parameter_cell(
    low: Lowering, name: str, value: Value, number: int, node: ast.AST, *, initial: bool
) -> Variable:
    """A cell for an argument of a thread; with `initial` it holds the value from the beginning."""
    role, target = Role.INT, None
    match value:
        case Number(expr, boolean):
            role = Role.BOOL if boolean else Role.INT
        case Reference(shape, expr, _):
            role, target = Role.POINTER, shape
        case Handle(expr):
            role = Role.HANDLE
        case _:
            raise low.refuse(node, f"a thread made here cannot get {kind_of(value)}")
    first = expr.value if initial and isinstance(expr, Const) else 0
    cell = low.model.storage.add(
        name, owner=number, role=role, initial=first, inferred=True, span=low.span(node)
    )
    return Variable(name, cell, role, target)


def _hand_over(plan: ThreadPlan, arguments: dict[str, Value]) -> tuple[Operation, ...]:
    """Write the arguments that have cells."""
    operations: list[Operation] = []
    for name, variable in plan.arguments.items():
        if isinstance(variable, Variable):
            match arguments[name]:
                case Number(expr) | Reference(_, expr) | Handle(expr):
                    operations.append(Assign(Const(variable.cell), expr))
    return tuple(operations)


def _starting(low: Lowering, plan: ThreadPlan) -> tuple[Operation, ...]:
    return start_operations(low, Const(plan.number + 1))


def start_operations(low: Lowering, handle: Expr) -> tuple[Operation, ...]:
    """Set the thread's program counter, whose address is the handle itself, to its entry."""
    operations: tuple[Operation, ...] = (Assign(handle, Const(FIRST_LOCATION)),)
    if low.model.status:
        operations += (Assign(_status(low, handle), Const(STARTED)),)
    return operations


def _status(low: Lowering, handle: Expr) -> Expr:
    return binary("add", handle, Const(low.model.status - 1))


def _creation(
    low: Lowering, function: ast.FunctionDef, node: ast.AST, operations: tuple[Operation, ...]
) -> None:
    if low.automaton is None:  # made at module level: the arguments are there from the beginning
        return
    low.step(Kind.CREATE, node, f"create {function.name}", operations=operations, atomic=True)


def _create_often(
    low: Lowering,
    function: ast.FunctionDef,
    arguments: dict[str, Value],
    node: ast.AST,
    *,
    start: bool,
) -> Value:
    """In a loop: a counter says which slot is next, and the slots may run out."""
    slots = low.model.options.max_threads
    if function.name in low.lineage:
        slots -= sum(plan.function is function for plan in low.model.plans)
    slots = max(0, slots)
    counter = low.model.storage.add(
        f"threads made at line {low.span(node).line}",
        high=slots,
        owner=low.number,
        role=Role.SYNC,
        span=low.span(node),
    )
    handle = Const(low.temporary(Role.HANDLE, node))
    made = Load(Const(counter))
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = []
    for position in range(slots):
        plan = _slot(low, function, arguments, node, fixed=False)
        operations = (
            *_hand_over(plan, arguments),
            *(_starting(low, plan) if start else ()),
            Assign(Const(counter), Const(position + 1)),
            Assign(handle, Const(plan.number + 1)),
        )
        ways.append((binary("eq", made, Const(position)), operations))
    ways.append((binary("eq", made, Const(slots)), (_bound_check(low, function),)))
    low.ways(Kind.CREATE, node, f"create {function.name}", ways, atomic=True)
    return Handle(Load(handle))


def _bound_check(low: Lowering, function: ast.FunctionDef) -> Check:
    limit = low.model.options.max_threads
    message = f"more than {limit} threads run {function.name} (--max-threads)"
    return Check(ZERO, Fault.BOUND, message)


def _too_many(low: Lowering, function: ast.FunctionDef, node: ast.AST) -> None:
    low.step(
        Kind.CREATE,
        node,
        f"create {function.name}",
        operations=(_bound_check(low, function),),
        atomic=True,
    )
    low.building(node).current = None


@callable_name("mazurka.model.join")
def _join(low: Lowering, node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        raise low.refuse(node, "`join` takes one thread: `join(handle)`")
    value = low.value(node.args[0])
    if not isinstance(value, Handle):
        raise low.refuse(node, f"`join` needs a thread, not {kind_of(value)}")
    return _wait_for(low, value.expr, node)


def call_handle(low: Lowering, handle: Expr, name: str, node: ast.Call) -> Value:
    """The methods of `threading.Thread`."""
    if name == "join":
        if node.args or node.keywords:
            raise low.refuse(node, "`join` with a timeout is not supported; use `join()`")
        return _wait_for(low, handle, node)
    if node.args or node.keywords:
        raise low.refuse(node, f"`{name}` of a thread takes no arguments")
    if name == "start":
        return _start(low, handle, node)
    if name == "is_alive":
        alive = binary("eq", Load(_status(low, handle)), Const(STARTED))
        return inspect(low, _thread_object(low, handle, node), node, "is_alive", alive)
    raise low.refuse(
        node, f"a thread has no operation `{name}` in models; it has start, join, is_alive"
    )


def _thread_object(low: Lowering, handle: Expr, node: ast.Call) -> Reference:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
    return Reference(INTEGER, _status(low, handle), True, ast.unparse(owner))


def _start(low: Lowering, handle: Expr, node: ast.Call) -> Value:
    title = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else "thread"
    fresh = Check(
        binary("eq", Load(handle), Const(IDLE)), Fault.EXCEPTION, f"`{title}` is started twice"
    )
    operations = (_exists(handle, title), fresh, *start_operations(low, handle))
    low.step(Kind.CREATE, node, f"start {title}", operations=operations, atomic=True)
    return Nothing()


def _exists(handle: Expr, title: str) -> Check:
    known = binary("ne", handle, ZERO)
    return Check(known, Fault.EXCEPTION, f"`{title}` is None, not a thread")


def _wait_for(low: Lowering, handle: Expr, node: ast.Call) -> Value:
    thread = _thread_object(low, handle, node)
    message = f"join of `{thread.title}`, which has not been started"
    status = Load(thread.address)
    low.ways(
        Kind.JOIN,
        node,
        f"join {thread.title}",
        [
            (binary("eq", status, Const(DONE)), ()),
            (binary("eq", status, Const(NEW)), (Check(ZERO, Fault.EXCEPTION, message),)),
        ],
        atomic=True,
        subject=thread.address,
    )
    return Nothing()
