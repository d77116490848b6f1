"""Calls: functions are inlined, or appear once where that becomes too large (`return_sites.py`);
recursion ends at a bound.

A parameter that its function never assigns to, and whose argument is a constant (an address, a
function), needs no cell: the body is elaborated with the constant.  So `lock(&m)` knows its mutex.
"""

from __future__ import annotations

import re
from dataclasses import replace

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import read, settle, write
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.function_ends import end_without_value, forget_labels
from mazurka.frontend.c.lives import leave
from mazurka.frontend.c.lowering import (
    BUILTINS,
    LIBRARY,
    UNREAD,
    CallFrame,
    CLowering,
    LibraryHandler,
    expression,
)
from mazurka.frontend.c.memory import allocate
from mazurka.frontend.c.places_of import declare, enter
from mazurka.frontend.c.return_sites import is_shareable, run_shared
from mazurka.frontend.c.survey import may_write, walk
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    CType,
    FunctionType,
    PointerType,
    VoidType,
    bare,
    is_scalar,
)
from mazurka.frontend.c.values import ObjectPlace, Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary
from mazurka.ir.expressions import ZERO, Const, Load
from mazurka.ir.program import Check, Fault, Kind, Span

_MISCOUNTED = re.compile(r"values to unpack|^tuple index out of range$")
ATOMIC_PREFIX = "__VERIFIER_atomic_"
"""A function whose name begins so is one indivisible step."""
_NOT_MODELLED = {
    "pthread_cancel": "is not supported: let the thread look at a flag, and end by itself",
    "pthread_kill": "is not supported: there are no signals",
    "sem_open": "is not supported: there are no processes; use `sem_init`",
    "fork": "is not supported: there are no processes; use threads",
    "fopen": "is not supported: there are no files; write to `stdout` or `stderr`",
    "pipe": "is not supported: there are no files; use a queue in memory",
}
"""Functions that many programs call, and what to do instead."""


@expression(tree.Call)
def _call(low: CLowering, node: tree.Call) -> Scalar | Whole:
    callee = node.callee
    while isinstance(callee, tree.Conversion | tree.AddressOf):
        callee = callee.operand
    if isinstance(callee, tree.Dereference) and isinstance(callee.type, FunctionType):
        callee = callee.operand
    if isinstance(callee, tree.FunctionName):
        return call_named(low, node, callee.function)
    pointer = low.scalar(node.callee)
    known = pointer.constant
    if known is not None:
        function = low.machine.function_at(known)
        if function is None:
            low.fail(Fault.MEMORY, f"`{node.text}` calls no function", node.span)
            return Scalar(node.type, ZERO)
        return call_named(low, node, function)
    return _call_pointer(low, node, pointer)


def call_named(low: CLowering, node: tree.Call, function: tree.CFunction) -> Scalar | Whole:
    """Call a function that is known: the program's own, or one of the library."""
    handler = LIBRARY.get(function.name)
    atomic = function.name.startswith(ATOMIC_PREFIX)
    if handler is not None and (not function.defined or function.name in _OURS):
        if not low.reachable:
            return Scalar(node.type, ZERO)
        return _call_library(low, node, handler, function.name)
    if function.name in BUILTINS and not function.defined:
        builtin = tree.Builtin(node.span, node.type, node.text, function.name, node.arguments)
        return _builtin(low, builtin)
    if not function.defined and "weak" in function.attributes:
        low.fail(
            Fault.MEMORY, f"`{node.text}` calls a weak function that is not defined", node.span
        )
        return Scalar(node.type, ZERO)
    if not function.defined:
        reason = _NOT_MODELLED.get(
            function.name,
            "is not defined, and not a function that Mazurka knows; define it:"
            " `__VERIFIER_nondet_int()` and its like can stand for what may be anything",
        )
        raise low.refuse(node, f"`{function.name}` {reason}")
    arguments = _evaluate_arguments(low, node, function)
    if atomic:
        low.begin_atomic(node.span)
    wanted = low.wanted.get(node, low.frame.wanted)
    named = len(function.parameters)
    extra = tuple(arguments[named:]) if low.survey.reads_arguments(function) else ()
    result = call(
        low, function, arguments[:named], node.span, used=node not in low.ignored, wanted=wanted,
        extra=extra,
    )  # fmt: skip
    if atomic:
        low.end_atomic(node.span)
    return result


def _call_library(low: CLowering, node: tree.Call, handler: LibraryHandler, name: str) -> Scalar:
    """Call a function of the library; refuse a call with too many or too few arguments.

    The parser counts the arguments only where a header declares the function, so a handler may
    fail to unpack them."""
    prepared = replace(node, arguments=_prepare_arguments(low, node.arguments, name))
    if not low.reachable:
        return Scalar(node.type, ZERO)
    if node in low.ignored:
        low.ignored.add(prepared)
    node = prepared
    try:
        return handler(low, node)
    except (IndexError, ValueError) as error:
        if not _MISCOUNTED.search(str(error)):
            raise
        message = f"`{node.text}`: the function takes another number of arguments"
        raise low.refuse(node, f"{message}; include the header that declares it") from error


def _prepare_arguments(
    low: CLowering, arguments: tuple[tree.Expression, ...], name: str
) -> tuple[tree.Expression, ...]:
    """Evaluate what has effects in the arguments of a function of the library or of the compiler,
    and the arguments that its handler does not look at; return arguments without effects.

    So each effect happens once, in order and before the call, whatever the handler does: it may
    evaluate an argument twice, or never, or look only at its form."""
    last = max((at for at, each in enumerate(arguments) if _takes_steps(each)), default=-1)
    if name in _UNEVALUATED:
        return arguments
    prepared = tuple(
        _without_effects(low, each, kept=at < last) for at, each in enumerate(arguments)
    )
    for position in UNREAD.get(name, ()):
        if -len(prepared) <= position < len(prepared):
            low.effect(prepared[position])
    return prepared


_UNEVALUATED = frozenset({"__builtin_constant_p"})
"""Functions of the compiler that never evaluate their argument."""


def _without_effects(low: CLowering, node: tree.Expression, *, kept: bool) -> tree.Expression:
    """Evaluate the effects of an argument; what is left has its value and, as far as handlers look
    at it, its form.  The value is `kept` safe from effects that follow."""
    if not _takes_steps(node) or not low.reachable:
        return node
    match node:
        case tree.Comma(left=left, right=right):
            low.effect(left)
            return _without_effects(low, right, kept=kept)
        case tree.AddressOf(operand=operand) if _is_path(operand):
            return replace(node, operand=_path_without_effects(low, operand, kept=kept))
        case tree.Conversion(operand=operand) if isinstance(operand.type, ArrayType):
            if _is_path(operand):
                return replace(node, operand=_path_without_effects(low, operand, kept=kept))
        case tree.Conversion(operand=operand) if is_scalar(node.type) and not _is_untyped(operand):
            return replace(node, operand=_without_effects(low, operand, kept=kept))
        case tree.BinaryOperation(left=left, right=right) if _measures(node):
            left = _without_effects(low, left, kept=True)
            return replace(node, left=left, right=_without_effects(low, right, kept=kept))
    value = low.value(node)
    if kept and isinstance(value, Scalar):
        value = low.hold_value(value, node.span)
    return tree.Evaluated(node.span, node.type, node.text, value)


def _takes_steps(node: tree.Expression) -> bool:
    """Return whether an argument may change something, or has a sequence point."""
    return may_write(node) or any(isinstance(each, tree.Comma) for each in walk(node))


def _is_untyped(node: tree.Expression) -> bool:
    """Return whether an expression is a `void *`: its conversion tells the type of the object."""
    kind = bare(node.type)
    return isinstance(kind, PointerType) and isinstance(bare(kind.target), VoidType)


def _is_path(node: tree.Expression) -> bool:
    """Return whether an expression denotes part of a variable or of an object behind a pointer."""
    match node:
        case (
            tree.Member(base=base, arrow=False)
            | tree.Subscript(
                base=tree.Conversion(operand=tree.Expression(type=ArrayType()) as base)
            )
        ):
            return _is_path(base)
    return isinstance(node, tree.Name | tree.Dereference | tree.Member | tree.Subscript)


def _path_without_effects(low: CLowering, node: tree.Expression, *, kept: bool) -> tree.Expression:
    """Evaluate the effects in an expression that denotes an object, but not the object."""
    match node:
        case tree.Dereference(operand=operand):
            return replace(node, operand=_without_effects(low, operand, kept=kept))
        case tree.Member(base=base, arrow=arrow):
            inner = _without_effects if arrow else _path_without_effects
            return replace(node, base=inner(low, base, kept=kept))
        case tree.Subscript(base=base, index=index):
            base = _without_effects(low, base, kept=True)
            return replace(node, base=base, index=_without_effects(low, index, kept=kept))
    return node


def _measures(node: tree.Expression) -> bool:
    """Return whether an expression has a `sizeof`, which tells what memory is for."""
    return any(isinstance(each, tree.SizeOf) for each in walk(node))


@expression(tree.Evaluated)
def _evaluated(low: CLowering, node: tree.Evaluated) -> Scalar | Whole:
    assert isinstance(node.value, Scalar | Whole)
    return node.value


_OURS = frozenset(
    {"reach_error", "__VERIFIER_error", "__VERIFIER_assume", "__VERIFIER_atomic_begin",
     "__VERIFIER_atomic_end"}
)  # fmt: skip
"""Functions that mean what they mean even if the program defines them."""


def _evaluate_arguments(
    low: CLowering, node: tree.Call, function: tree.CFunction
) -> list[Scalar | Whole]:
    function.read()
    if len(node.arguments) < len(function.parameters):
        raise low.refuse(node, f"`{node.text}`: too few arguments")
    values: list[Scalar | Whole] = []
    several = len(node.arguments) > 1
    for position, argument in enumerate(node.arguments):
        value = low.value(argument)
        if isinstance(value, Scalar):
            if position < len(function.parameters):
                value = convert(low, value, function.parameters[position].type, argument)
            if several:
                value = low.hold_value(value, node.span)
        values.append(value)
    return values


def call(
    low: CLowering,
    function: tree.CFunction,
    arguments: list[Scalar | Whole],
    span: Span,
    *,
    used: bool = True,
    wanted: PointerType | None = None,
    extra: tuple[Scalar | Whole, ...] = (),
) -> Scalar | Whole:
    """Call a function; returns what it returns, a `void *` perhaps that is `wanted` as another
    pointer.  The `extra` arguments are those that it reads by `va_arg`."""
    type_ = function.type
    assert isinstance(type_, FunctionType)
    if not low.reachable:
        return Scalar(type_.result, ZERO)
    depth = low.nesting(function)
    if depth >= low.machine.limits.max_depth:
        limit = low.machine.limits.max_depth
        low.fail(Fault.BOUND, f"`{function.name}` calls itself {limit} times (--max-depth)", span)
        return Scalar(type_.result, ZERO)
    function.read()
    frame = CallFrame(function, depth, low.label(span), used=used, extra=extra)
    result_type = bare(type_.result)
    if isinstance(result_type, PointerType) and isinstance(result_type.target, VoidType):
        frame.wanted = wanted
    frame.result = _result_cells(low, function, type_.result, depth)
    if is_shareable(low, function) and not extra and not low.cleanups:
        run_shared(low, frame, arguments, span)
    else:
        _inline(low, frame, arguments, span)
    if isinstance(bare(type_.result), VoidType) or not low.reachable:
        return Scalar(type_.result, ZERO)
    result = Const(frame.result[0])
    if is_scalar(type_.result):
        return Scalar(bare(type_.result), low.hold(Load(result), span, type_.result))
    title = f"what {function.name} returns"
    return read(low, ObjectPlace(type_.result, result, False, title), span)


def _inline(low: CLowering, frame: CallFrame, arguments: list[Scalar | Whole], span: Span) -> None:
    """Elaborate the body of a function here."""
    function = frame.function
    facts = low.survey.facts(function)
    lists = dict(low.lists)
    low.frames.append(frame)
    enter(low, function, span)
    for parameter, value in zip(function.parameters, arguments, strict=True):
        bind(low, parameter, value, span)
    low.loop_depth += facts.loops_back
    low.trips += [None] * facts.loops_back
    low.joining.append(facts.loops_back and low.survey.may_join(function.read()))
    low.execute(function.read())
    low.loop_depth -= facts.loops_back
    del low.trips[len(low.trips) - facts.loops_back :]
    low.joining.pop()
    leave(low, function, span)
    end_without_value(low, span)
    low.put(frame.exit, span)
    low.frames.pop()
    low.lists = lists
    forget_labels(low, frame)


def _result_cells(
    low: CLowering, function: tree.CFunction, type_: CType, depth: int
) -> tuple[int, ...]:
    size = low.machine.layouts.cells(type_)
    if not size:
        return ()
    key = ("result", function, depth)
    address = low.frame_cells.get(key)
    if address is None:
        name = f"result of {function.name}"
        watched = not is_scalar(type_)
        address = allocate(low.machine, name, type_, low.number, function.span, watched=watched)
        low.frame_cells[key] = address
    return tuple(range(address, address + size))


def bind(low: CLowering, parameter: tree.Variable, value: Scalar | Whole, span: Span) -> None:
    """Give a parameter its argument."""
    facts = low.survey.facts(low.frame.function)
    if (
        isinstance(value, Scalar)
        and isinstance(value.expr, Const)
        and parameter not in facts.assigned
        and parameter not in facts.exposed
    ):
        low.frame.known[parameter] = Scalar(bare(parameter.type), value.expr, value.inside)
        return
    place = declare(low, parameter)
    write(low, place, value, span)


def _call_pointer(low: CLowering, node: tree.Call, pointer: Scalar) -> Scalar | Whole:
    """Call whatever function the pointer leads to: one way for each that it may be."""
    kind = bare(pointer.type)
    type_ = kind.target if isinstance(kind, PointerType) else VOID
    held = low.hold(pointer.expr, node.span, pointer.type)
    candidates = [
        function
        for function in low.machine.functions
        if isinstance(function.type, FunctionType)
        and isinstance(type_, FunctionType)
        and len(function.type.parameters) == len(type_.parameters)
    ]
    end = low.label(node.span)
    cells: list[int] = []
    for function in candidates:
        yes, no = low.label(node.span), low.label(node.span)
        number = Const(low.machine.number_of(function))
        text = f"{node.callee.text} is {function.name}"
        low.split(binary("eq", held, number), node.span, text, yes, no)
        low.put(yes, node.span)
        value = call_named(low, node, function)
        if low.reachable and not isinstance(bare(node.type), VoidType):
            settle(low, value, node.span, node.text)
            exprs = value.exprs if isinstance(value, Whole) else (value.expr,)
            if not cells:
                from mazurka.frontend.c.lowering import role_of

                cells = [low.take_temporary(role_of(node.type), node.span) for _ in exprs]
            for cell, expr in zip(cells, exprs, strict=True):
                low.set_cell(cell, expr, node.span)
        if low.reachable:
            low.go(end, node.span)
        low.put(no, node.span)
    message = f"`{node.text}` calls no function of this type"
    check = Check(ZERO, Fault.MEMORY, message)
    if low.reachable:
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,))
        low.require_automaton().current = None
    low.put(end, node.span)
    if not cells:
        return Scalar(node.type, ZERO)
    loads = tuple(Load(Const(cell)) for cell in cells)
    if is_scalar(node.type):
        return Scalar(bare(node.type), loads[0])
    return Whole(node.type, loads)


@expression(tree.Builtin)
def _builtin(low: CLowering, node: tree.Builtin) -> Scalar:
    handler = BUILTINS.get(node.name)
    if handler is None:
        raise low.refuse(node, f"`{node.name}` is not supported")
    if not low.reachable:
        return Scalar(node.type, ZERO)
    node = replace(node, arguments=_prepare_arguments(low, node.arguments, node.name))
    return handler(low, node) if low.reachable else Scalar(node.type, ZERO)
