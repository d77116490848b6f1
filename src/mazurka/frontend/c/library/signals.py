"""Semaphores, barriers, and code that runs once."""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.calls import call_named
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import (
    EAGAIN,
    EINVAL,
    ETIMEDOUT,
    SUCCESS,
    called_name,
    flag_cell,
    required_target,
    set_errno,
    sync_object,
)
from mazurka.frontend.c.library.clocks import read_limit
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.shapes import Reference
from mazurka.ir.expressions import ONE, ZERO, Const, Convert, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind


def _object(low: CLowering, node: tree.Call) -> Reference:
    return sync_object(low, node.arguments[0], LockShape(low.program.threads))


@library("pause")
def _pause(low: CLowering, node: tree.Call) -> Scalar:
    """Wait for a signal: there are none."""
    low.step(Kind.AWAIT, node.span, node.text, guard=ZERO)
    low.require_automaton().current = None
    return SUCCESS


def _add(count: Expr, amount: int) -> Expr:
    """The value of a semaphore after a step: an `int`, so that it has a range even where the
    analysis of ranges finds none, as for one of many semaphores."""
    return Convert(binary("add", count, Const(amount)), 32, True)


@library("sem_init", unread=(1,))
def _sem_init(low: CLowering, node: tree.Call) -> Scalar:
    owner = _object(low, node)
    value = low.scalar(node.arguments[2])
    text = f"initialize {owner.title}"
    low.act(Kind.CLEAR, node.span, text, owner, Assign(owner.address, value.expr))
    return SUCCESS


@library("sem_wait")
def _sem_wait(low: CLowering, node: tree.Call) -> Scalar:
    owner = _object(low, node)
    count = Load(owner.address)
    low.act(
        Kind.DOWN, node.span, f"wait for {owner.title}", owner,
        Assign(owner.address, _add(count, -1)), guard=binary("gt", count, ZERO),
    )  # fmt: skip
    return SUCCESS


@library("sem_trywait", "sem_timedwait", "sem_clockwait")
def _sem_trywait(low: CLowering, node: tree.Call) -> Scalar:
    owner = _object(low, node)
    count = Load(owner.address)
    failure: Expr = Const(EAGAIN)
    if called_name(node) != "sem_trywait":
        valid = read_limit(low, node.arguments[-1])
        failure = low.hold(conditional(valid, Const(ETIMEDOUT), Const(EINVAL)), node.span, INT)
    taken = low.attempt(
        Kind.TRY_ACQUIRE, node.span, f"try {owner.title}", owner,
        Assign(owner.address, _add(count, -1)),
        success=binary("gt", count, ZERO), failure=binary("le", count, ZERO),
    )  # fmt: skip
    span = node.span
    yes, no, end = (low.label(span) for _ in range(3))
    low.split(taken, span, f"{owner.title} is taken", yes, no)
    low.put(no, span)
    set_errno(low, failure, span)
    low.go(end, span)
    low.put(yes, span)
    low.put(end, span)
    return Scalar(INT, conditional(taken, ZERO, Const(-1)))


@library("sem_post")
def _sem_post(low: CLowering, node: tree.Call) -> Scalar:
    owner = _object(low, node)
    more = Assign(owner.address, _add(Load(owner.address), 1))
    low.act(Kind.UP, node.span, f"post {owner.title}", owner, more)
    return SUCCESS


@library("sem_getvalue")
def _sem_getvalue(low: CLowering, node: tree.Call) -> Scalar:
    owner, target = _object(low, node), required_target(low, node.arguments[1])
    value = low.inspect(node.span, f"value of {owner.title}", owner, Load(owner.address))
    if target is not None:
        write(low, target, Scalar(INT, value), node.span)
    return SUCCESS


# --- barriers: parties, how many have come, whether they leave -----------------------------------


@library("pthread_barrier_init", unread=(1,))
def _barrier_init(low: CLowering, node: tree.Call) -> Scalar:
    owner = _object(low, node)
    parties = low.scalar(node.arguments[2])
    low.act(
        Kind.CLEAR, node.span, f"initialize {owner.title}", owner,
        Assign(owner.address, parties.expr), Assign(owner.cell(1), ZERO),
        Assign(owner.cell(2), ZERO),
    )  # fmt: skip
    return SUCCESS


@library("pthread_barrier_wait")
def _barrier_wait(low: CLowering, node: tree.Call) -> Scalar:
    """Arrive, and leave when all have arrived; the last to arrive gets another result."""
    owner, span = low.pin(_object(low, node), node.span), node.span
    result = flag_cell(low, span)
    parties, inside, leaving = (Load(owner.cell(each)) for each in range(3))
    complete = binary("ge", inside, parties)
    threads = low.program.threads
    low.act(
        Kind.ARRIVE, span, f"arrive at {owner.title}", owner,
        Check(binary("gt", parties, ZERO), Fault.LOCK, f"`{owner.title}` is not initialized"),
        Assign(owner.cell(1), binary("min", binary("add", inside, ONE), Const(threads + 1))),
        Assign(owner.cell(2), complete),
        Assign(result, conditional(complete, Const(-1), ZERO)),
        guard=binary("eq", leaving, ZERO),
    )  # fmt: skip
    low.act(
        Kind.LEAVE, span, f"leave {owner.title}", owner,
        Assign(owner.cell(1), binary("max", binary("sub", inside, ONE), ZERO)),
        Assign(owner.cell(2), binary("ne", inside, ZERO)),
        guard=binary("ne", leaving, ZERO),
    )  # fmt: skip
    return Scalar(INT, Load(result))


# --- once ----------------------------------------------------------------------------------------

NEW, RUNNING, DONE = 0, 1, 2


@library("pthread_once", "call_once")
def _once(low: CLowering, node: tree.Call) -> Scalar:
    """The first who comes calls the function; the others wait until it has returned."""
    owner, span = _object(low, node), node.span
    routine = node.arguments[1]
    while isinstance(routine, tree.Conversion | tree.AddressOf):
        routine = routine.operand
    if not isinstance(routine, tree.FunctionName):
        raise low.refuse(node, "the function that runs once must be named here")
    state = Load(owner.address)
    run, end = low.label(span), low.label(span)
    low.add_edge(
        Kind.AWAIT, span, f"run {routine.text} once", run, guard=binary("eq", state, ZERO),
        operations=(Assign(owner.address, Const(RUNNING)),), atomic=True, subject=owner.address,
    )  # fmt: skip
    low.add_edge(
        Kind.AWAIT, span, f"{routine.text} has run already", end,
        guard=binary("eq", state, Const(DONE)), atomic=True, subject=owner.address,
    )  # fmt: skip
    low.require_automaton().current = None
    low.put(run, span)
    call = tree.Call(span, routine.function.type, routine.text, routine, ())
    low.once += 1
    call_named(low, call, routine.function)
    low.once -= 1
    if low.reachable:
        text = f"{routine.text} has run"
        low.act(Kind.SET, span, text, owner, Assign(owner.address, Const(DONE)))
        low.go(end, span)
    low.put(end, span)
    return SUCCESS
