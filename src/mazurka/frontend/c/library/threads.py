"""Threads: `pthread_create` and its like, and C11's `thrd_create`.

Each place that creates a thread has threads of its own that stand ready, one where the place runs
once, up to `--max-threads` in a loop.  A `pthread_t` holds a thread's number plus one.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.addresses import begin_thread, compare_threads, end_thread_number
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.expressions import INT, protect
from mazurka.frontend.c.library.arguments import SUCCESS, required_target, target_of
from mazurka.frontend.c.lives import leave_thread
from mazurka.frontend.c.lowering import CLowering, CThread, library
from mazurka.frontend.c.memory_orders import NO_FAILING_CREATION
from mazurka.frontend.c.pointers import settle_bytes
from mazurka.frontend.c.types import (
    VOID,
    FunctionType,
    PointerType,
)
from mazurka.frontend.c.values import NO_RESULT, Scalar
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.frontend.kit.program import DONE, JOINED, NEW
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.frontend.kit.threads import (
    MOST_THREADS,
    Slot,
    create,
    create_again,
    create_in_loop,
    exceed,
)
from mazurka.ir.expressions import ZERO, Const, Element, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span

POINTER = PointerType(VOID, 64)
DETACHED = 1
"""`PTHREAD_CREATE_DETACHED`."""


@library("pthread_create")
def _create(low: CLowering, node: tree.Call) -> Scalar:
    thread, attributes, start, argument = node.arguments
    given = target_of(low, attributes)
    state: Expr = ZERO
    if given is not None and low.machine.detached:
        state = low.hold(binary("eq", Load(given.address), Const(DETACHED)), node.span, INT)
    return _start(low, node, thread, start, argument, state)


@library("thrd_create")
def _thrd_create(low: CLowering, node: tree.Call) -> Scalar:
    thread, start, argument = node.arguments
    return _start(low, node, thread, start, argument)


def _start(
    low: CLowering,
    node: tree.Call,
    thread: tree.Expression,
    start: tree.Expression,
    argument: tree.Expression,
    detached: Expr = ZERO,
) -> Scalar:
    low.machine.assumed.add(NO_FAILING_CREATION)
    function = low.scalar(start)
    given = convert(low, low.scalar(argument), POINTER, argument)
    given = low.hold_value(settle_bytes(low, given, node.span, node.text), node.span)
    target = required_target(low, thread)
    known = function.constant
    if known is not None:
        named = low.machine.function_at(known)
        if named is None:
            low.fail(Fault.MEMORY, f"`{node.text}` starts no function", node.span)
        else:
            _start_known(low, node, named, given, target, detached)
        return SUCCESS
    held = low.hold(function.expr, node.span, function.type)
    end = low.label(node.span)
    for candidate in list(low.machine.functions):
        if not isinstance(candidate.type, FunctionType) or not candidate.defined:
            continue
        if len(candidate.type.parameters) != 1:
            continue
        yes, no = low.label(node.span), low.label(node.span)
        test = binary("eq", held, Const(low.machine.number_of(candidate)))
        low.split(test, node.span, f"{start.text} is {candidate.name}", yes, no)
        low.put(yes, node.span)
        _start_known(low, node, candidate, given, target, detached)
        if low.reachable:
            low.go(end, node.span)
        low.put(no, node.span)
    if low.reachable:
        low.fail(Fault.MEMORY, f"`{node.text}` starts no function", node.span)
    low.put(end, node.span)
    return SUCCESS


def _start_known(
    low: CLowering,
    node: tree.Call,
    function: tree.CFunction,
    given: Scalar,
    target: object,
    detached: Expr,
) -> None:
    from mazurka.frontend.c.values import ObjectPlace

    span = node.span
    if not function.defined:
        raise low.refuse(node, f"`{function.name}` is not defined")
    same = sum(each is function for each in low.plan.lineage)
    if same >= low.machine.limits.max_threads:
        exceed(low, span, function.name)
        return
    facts = low.machine.expected
    kept = facts.kept_by_threads or facts.compares_threads
    if low.loop_depth and low.is_joining and not kept:
        handle = create_again(
            low, span, function.name, low.machine.limits.max_threads,
            lambda: _make_slot(low, function, given, span, again=True),
        )  # fmt: skip
    elif low.loop_depth:
        slots = low.repetitions(low.machine.limits.max_threads)
        handle = create_in_loop(
            low, span, function.name, slots, lambda: _make_slot(low, function, given, span),
            start=True,
        )  # fmt: skip
    else:
        slot = _make_slot(low, function, given, span)
        handle = create(low, span, function.name, slot, start=True)
    held = handle
    if isinstance(target, ObjectPlace) or low.machine.detached:
        held = low.keep(handle, span, Role.HANDLE)
    if low.machine.detached:
        ended = both(detached, _has_ended(low, held))
        over = end_thread_number(low, binary("sub", held, Const(1)), ended)
        operations = (Assign(_detached(low, held), detached), *over)
        low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)
    if isinstance(target, ObjectPlace):
        write(low, target, Scalar(target.type, held), span)


def _make_slot(
    low: CLowering, function: tree.CFunction, given: Scalar, span: Span, *, again: bool = False
) -> Slot:
    """A thread that stands ready; `again` if it may be started again once it has been joined."""
    machine = low.machine
    number = len(machine.plans)
    if number >= MOST_THREADS:
        raise UnsupportedError.at(
            span,
            f"the program may have more than {MOST_THREADS} threads; a smaller --max-threads bounds"
            f" how many each place creates (now {low.machine.limits.max_threads})",
        )
    lineage = (*low.plan.lineage, function)
    again = again or low.plan.again
    plan = CThread(number, function.name, span, active=False, function=function, lineage=lineage)
    plan.again = again
    machine.plans.append(plan)
    begun = begin_thread(machine, number)
    if isinstance(given.expr, Const):
        plan.argument = given.expr
        return plan, begun
    cell = CellDraft(
        f"argument of {function.name}", owner=number, role=Role.POINTER, inferred=True, span=span
    )
    plan.argument_cell = machine.draft.storage.add(cell)
    return plan, (Assign(Const(plan.argument_cell), given.expr), *begun)


@library("pthread_join")
def _join(low: CLowering, node: tree.Call) -> Scalar:
    thread, result = node.arguments
    handle = low.scalar(thread)
    held = low.hold(handle.expr, node.span, INT)
    target = target_of(low, result)
    _wait(low, held, node.span, thread.text)
    if target is not None:
        low.machine.found.results = True
        value = Scalar(POINTER, _result_of(low, held, node.span))
        write(low, target, convert(low, value, target.type, result), node.span)
    return SUCCESS


@library("thrd_join")
def _thrd_join(low: CLowering, node: tree.Call) -> Scalar:
    thread, result = node.arguments
    handle = low.scalar(thread)
    held = low.hold(handle.expr, node.span, INT)
    target = target_of(low, result)
    _wait(low, held, node.span, thread.text)
    if target is not None:
        low.machine.found.results = True
        number = _result_of(low, held, node.span)
        write(low, target, Scalar(target.type, number), node.span)
    return SUCCESS


def _wait(low: CLowering, handle: Expr, span: Span, title: str) -> None:
    low.machine.found.joins = True
    if not low.machine.expected.joins:
        return  # this round has no cells that say whether a thread has ended
    threads = low.program.threads
    _require_thread(low, handle, span, f"join of `{title}`")
    address = Element(
        Const(low.program.status), binary("sub", handle, Const(1)), threads, 1
    )  # of a known array: other cells are out of the question
    start = f"join of `{title}`, which has not been started"
    if low.machine.expected.restarted:
        start += ", or has been joined already"
    done, new, joined = (binary("eq", Load(address), Const(each)) for each in (DONE, NEW, JOINED))
    again = f"join of `{title}`, which has been joined already"
    over = end_thread_number(low, binary("sub", handle, Const(1)))
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = [
        (done, (_note_joined(low, handle, address), *over)),
        (new, (Check(ZERO, Fault.EXCEPTION, start),)),
        (joined, (Check(ZERO, Fault.EXCEPTION, again),)),
    ]
    if low.machine.detached:
        gone = Load(_detached(low, handle))
        wrong = Check(ZERO, Fault.EXCEPTION, f"join of `{title}`, which is detached or was joined")
        free = negate(gone)
        forget = Assign(_detached(low, handle), Const(1))
        ways = [(both(free, guard), operations) for guard, operations in ways if guard]
        ways[0] = (ways[0][0], (*ways[0][1], forget))
        ways.append((gone, (wrong,)))
    low.take_one_of(Kind.JOIN, span, f"join {title}", ways, atomic=True, subject=address)


def _require_thread(low: CLowering, handle: Expr, span: Span, what: str) -> None:
    fine = binary("ult", binary("sub", handle, Const(1)), Const(low.program.threads))
    check = Check(fine, Fault.EXCEPTION, f"{what}, which is no thread")
    low.step(Kind.LOCAL, span, what.replace("`", ""), operations=(check,))


def _detached(low: CLowering, handle: Expr) -> Expr:
    """The cell that says whether a thread is detached."""
    index = binary("sub", handle, Const(1))
    return Element(Const(low.machine.detached), index, low.program.threads, 1)


@library("pthread_detach", "thrd_detach")
def _detach(low: CLowering, node: tree.Call) -> Scalar:
    """Detach a thread: nobody may join it any more, or detach it again."""
    thread, span = node.arguments[0], node.span
    low.machine.found.detaches = True
    held = low.hold(low.scalar(thread).expr, span, INT)
    if not low.machine.detached:
        return SUCCESS
    _require_thread(low, held, span, f"detach of `{thread.text}`")
    cell = _detached(low, held)
    message = f"detach of `{thread.text}`, which is detached already, or has been joined"
    number = binary("sub", held, Const(1))
    ended = _has_ended(low, held)
    operations = (
        Check(binary("eq", Load(cell), ZERO), Fault.EXCEPTION, message),
        Assign(cell, Const(1)),
        *end_thread_number(low, number, ended),
    )
    low.step(Kind.LOCAL, span, node.text, operations=operations, atomic=True)
    return SUCCESS


def _has_ended(low: CLowering, handle: Expr) -> Expr:
    address = binary("add", handle, Const(low.program.status - 1))
    return binary("eq", Load(address), Const(DONE))


def end_detached(low: CLowering, span: Span) -> None:
    """A thread ends: if it is detached, its number is free."""
    if low.machine.detached and low.machine.thread_ids is not None and low.reachable:
        own = Const(low.number)
        over = end_thread_number(low, own, Load(_detached(low, Const(low.number + 1))))
        low.step(Kind.LOCAL, span, "", operations=over, atomic=True)


@library("pthread_attr_setdetachstate")
def _set_detach_state(low: CLowering, node: tree.Call) -> Scalar:
    low.machine.found.detaches = True
    target, state = target_of(low, node.arguments[0]), low.scalar(node.arguments[1])
    if target is not None:
        operations = (Assign(target.address, state.expr),)
        low.step(Kind.LOCAL, node.span, node.text, operations=operations, atomic=True)
    return SUCCESS


def _note_joined(low: CLowering, handle: Expr, address: Expr) -> Assign:
    """Remember that a thread has been joined; one that may be started again stands ready then."""
    again: Expr = ZERO
    for number in low.machine.expected.restarted:
        again = either(binary("eq", handle, Const(number + 1)), again)
    return Assign(address, conditional(again, Const(NEW), Const(JOINED)))


def _result_of(low: CLowering, handle: Expr, span: Span) -> Expr:
    base = low.machine.results
    if not base:
        return ZERO
    cell = Const(low.take_temporary(Role.POINTER, span))
    index = binary("sub", handle, Const(1))
    value = Load(Element(Const(base), index, low.program.threads, 1))
    message = "the thread has ended without the result that is asked for; add a `return`"
    there = Check(binary("ne", Load(cell), Const(NO_RESULT)), Fault.BOUND, message)
    low.step(Kind.LOCAL, span, "result of the thread", operations=(Assign(cell, value), there))
    return Load(cell)


@library("__mazurka_cleanup_push")
def _push_cleanup(low: CLowering, node: tree.Call) -> Scalar:
    """`pthread_cleanup_push`: remember a function that runs if the thread ends before the pop."""
    routine, argument = node.arguments
    low.cleanups.append((len(low.frames), routine, argument))
    return Scalar(VOID, ZERO)


@library("__mazurka_cleanup_pop")
def _pop_cleanup(low: CLowering, node: tree.Call) -> Scalar:
    low.cleanups.pop()
    return Scalar(VOID, ZERO)


def _run_cleanups(low: CLowering, span: Span) -> None:
    """Call what has been pushed, the last first, each in the function that pushed it."""
    frames, cleanups = low.frames, low.cleanups
    while low.cleanups and low.reachable:
        depth, routine, argument = low.cleanups[-1]
        low.frames, low.cleanups = frames[:depth], low.cleanups[:-1]
        low.effect(tree.Call(span, VOID, routine.text, routine, (argument,)))
        low.frames = frames
    low.cleanups = cleanups


@library("pthread_exit", "thrd_exit")
def _exit(low: CLowering, node: tree.Call) -> Scalar:
    value = settle_bytes(low, low.scalar(node.arguments[0]), node.span, node.text)
    value = low.hold_value(value, node.span)
    _run_cleanups(low, node.span)
    if low.reachable:
        end_thread(low, value, node.span)
    return Scalar(VOID, ZERO)


def end_thread(low: CLowering, value: Scalar | None, span: Span) -> None:
    """End the acting thread; who joins it may ask for its result."""
    if low.require_automaton().atomic_depth:
        low.require_automaton().atomic_depth = 1
        low.end_atomic(span)
    marked = any("destructor" in each.attributes for each in _functions(low))
    if low.plan.active and (marked or low.machine.expected.exits):
        raise UnsupportedError.at(
            span, "`main` ends before the process, which has a destructor or an `atexit` function"
        )
    leave_thread(low, span)
    run_destructors(low, span)
    if value is not None:
        keep_result(low, value, span)
    assert low.thread_exit is not None
    low.go(low.thread_exit, span)


def _functions(low: CLowering) -> list[tree.CFunction]:
    return list(low.machine.unit.functions.values())


def keep_result(low: CLowering, value: Scalar, span: Span) -> None:
    if low.machine.results and low.plan.joinable:
        cell = Const(low.machine.results + low.plan.number)
        operations: tuple[Operation, ...] = (Assign(cell, value.expr),)
        low.step(Kind.LOCAL, span, "keep the result", operations=operations)


def run_destructors(low: CLowering, span: Span) -> None:
    """Call the destructors of the thread's keys: `keys.py` adds them."""
    for each in DESTRUCTORS:
        each(low, span)


DESTRUCTORS: list = []  # type: ignore[type-arg]


@library("pthread_self", "thrd_current")
def _self(low: CLowering, node: tree.Call) -> Scalar:
    low.machine.found.names_main |= low.plan.active
    return Scalar(node.type, Const(low.number + 1))


@library("pthread_equal", "thrd_equal")
def _equal(low: CLowering, node: tree.Call) -> Scalar:
    left = low.scalar(node.arguments[0])
    left = protect(low, left, node.arguments[1], node.span)
    right = low.scalar(node.arguments[1])
    equal = compare_threads(low, left.expr, right.expr, node.span, node.text)
    return Scalar(INT, equal)


@library(
    "pthread_attr_init", "pthread_attr_destroy", "pthread_attr_setstacksize",
    "pthread_attr_setscope", "pthread_setconcurrency", "pthread_setname_np",
    "pthread_condattr_setclock", "pthread_condattr_setpshared", "pthread_attr_setschedpolicy",
    "pthread_attr_setinheritsched", "pthread_attr_setschedparam", unread=(0, 1),
)  # fmt: skip
def _no_effect(low: CLowering, node: tree.Call) -> Scalar:
    if "attr" in node.text.partition("(")[0]:
        required_target(low, node.arguments[0])
    return SUCCESS


@library("sched_yield", "thrd_yield", "pthread_yield")
def _yield(low: CLowering, node: tree.Call) -> Scalar:
    return SUCCESS
