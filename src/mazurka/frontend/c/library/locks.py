"""Locks: mutexes of all kinds, spin locks and reader-writer locks.

A mutex is one cell, its owner.  If some mutex of the program may be recursive or check for errors,
all have two more: how often it is held, and its kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.frontend.c import tree
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import (
    EBUSY,
    EDEADLK,
    EINVAL,
    EPERM,
    ETIMEDOUT,
    SUCCESS,
    called_name,
    flag_cell,
    required_target,
    sync_object,
    target_of,
    touch,
)
from mazurka.frontend.c.library.clocks import read_limit
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.frontend.kit.locks import LockShape, RWLockShape
from mazurka.frontend.kit.shapes import Reference
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span

NORMAL, RECURSIVE, ERRORCHECK = 0, 1, 2
THRD_BUSY, THRD_ERROR, THRD_TIMEDOUT = 1, 2, 4


@dataclass(frozen=True)
class MutexCells:
    """The cells of one mutex."""

    owner: Reference
    kinds: bool

    @property
    def count(self) -> Expr:
        return self.owner.cell(1)

    @property
    def kind(self) -> Expr:
        return self.owner.cell(2)


def mutex_at(low: CLowering, node: tree.Expression) -> MutexCells:
    owner = sync_object(low, node, LockShape(low.program.threads))
    return MutexCells(owner, low.machine.expected.mutex_kinds)


def _shape(low: CLowering) -> LockShape:
    return LockShape(low.program.threads)


@library("pthread_mutex_init")
def _init(low: CLowering, node: tree.Call) -> Scalar:
    mutex = mutex_at(low, node.arguments[0])
    attributes = target_of(low, node.arguments[1])
    operations: list[Operation] = [Assign(mutex.owner.address, ZERO)]
    if mutex.kinds:
        kind: Expr = ZERO if attributes is None else Load(attributes.address)
        held = low.hold(kind, node.span, INT)
        operations += [Assign(mutex.count, ZERO), Assign(mutex.kind, held)]
    _act(low, Kind.CLEAR, node.span, f"initialize {mutex.owner.title}", mutex.owner, operations)
    return SUCCESS


@library("mtx_init")
def _mtx_init(low: CLowering, node: tree.Call) -> Scalar:
    mutex = mutex_at(low, node.arguments[0])
    kind = low.scalar(node.arguments[1])
    if kind.constant is None:
        raise low.refuse(node, "the kind of this mutex is not constant")
    if kind.constant & 1:
        low.machine.found.mutex_kinds = True
    operations: list[Operation] = [Assign(mutex.owner.address, ZERO)]
    if mutex.kinds:
        operations += [
            Assign(mutex.count, ZERO),
            Assign(mutex.kind, Const(RECURSIVE if kind.constant & 1 else NORMAL)),
        ]
    _act(low, Kind.CLEAR, node.span, f"initialize {mutex.owner.title}", mutex.owner, operations)
    return SUCCESS


@library("pthread_mutexattr_setrobust")
def _setrobust(low: CLowering, node: tree.Call) -> Scalar:
    if low.scalar(node.arguments[1]).constant != 0:
        raise low.refuse(
            node, "a robust mutex is not supported: here it stays taken when its owner ends"
        )
    return SUCCESS


@library("pthread_mutexattr_settype")
def _settype(low: CLowering, node: tree.Call) -> Scalar:
    low.machine.found.mutex_kinds = True
    target = required_target(low, node.arguments[0])
    kind = low.scalar(node.arguments[1])
    if target is not None:
        operations = (Assign(target.address, kind.expr),)
        low.step(Kind.LOCAL, node.span, node.text, operations=operations, atomic=True)
    return SUCCESS


@library(
    "pthread_mutexattr_init", "pthread_mutexattr_destroy", "pthread_mutex_destroy", "mtx_destroy",
    "pthread_cond_destroy", "cnd_destroy", "pthread_rwlock_destroy", "pthread_spin_destroy",
    "pthread_condattr_init", "pthread_condattr_destroy", "pthread_barrier_destroy", "sem_destroy",
    "pthread_rwlockattr_init", "pthread_rwlockattr_destroy", "pthread_mutexattr_setpshared",
    "pthread_mutexattr_setprotocol", "pthread_rwlockattr_setpshared", unread=(1,),
)  # fmt: skip
def _destroy(low: CLowering, node: tree.Call) -> Scalar:
    touch(low, node.arguments[0])
    return SUCCESS


def _act(
    low: CLowering,
    kind: Kind,
    span: Span,
    text: str,
    owner: Reference,
    operations: list[Operation],
    guard: Expr | None = None,
) -> None:
    low.act(kind, span, text, owner, *operations, guard=guard)


@library("pthread_mutex_lock", "mtx_lock")
def _lock(low: CLowering, node: tree.Call) -> Scalar:
    return lock(low, mutex_at(low, node.arguments[0]), node.span)


def lock(low: CLowering, mutex: MutexCells, span: Span) -> Scalar:
    owner = mutex.owner
    shape = _shape(low)
    if not mutex.kinds:
        shape.acquire(low, owner, span)
        return SUCCESS
    result = flag_cell(low, span)
    free = binary("eq", Load(owner.address), ZERO)
    mine = binary("eq", Load(owner.address), low.me)
    recursive = both(mine, binary("eq", Load(mutex.kind), Const(RECURSIVE)))
    erring = both(mine, binary("eq", Load(mutex.kind), Const(ERRORCHECK)))
    take = (
        Assign(owner.address, low.me),
        Assign(mutex.count, ONE),
        Assign(result, ZERO),
    )
    limit = low.machine.limits.max_depth
    deep = Check(
        binary("lt", Load(mutex.count), Const(limit)),
        Fault.BOUND,
        f"`{owner.title}` is taken more than {limit} times over (--max-depth)",
    )
    again = (
        deep,
        Assign(mutex.count, binary("add", Load(mutex.count), ONE)),
        Assign(result, ZERO),
    )
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = [
        (free, take),
        (recursive, again),
        (erring, (Assign(result, Const(EDEADLK)),)),
    ]
    text = f"acquire {owner.title}"
    low.take_one_of(Kind.ACQUIRE, span, text, ways, atomic=True, subject=owner.address)
    return Scalar(INT, Load(result))


@library("pthread_mutex_trylock", "mtx_trylock")
def _trylock(low: CLowering, node: tree.Call) -> Scalar:
    return _lock_or_fail(low, node, THRD_BUSY if called_name(node) == "mtx_trylock" else EBUSY)


@library("pthread_mutex_timedlock", "mtx_timedlock", "pthread_mutex_clocklock")
def _timedlock(low: CLowering, node: tree.Call) -> Scalar:
    return _lock_or_fail(low, node, _late(node), timed=True)


def _lock_or_fail(low: CLowering, node: tree.Call, failure: int, *, timed: bool = False) -> Scalar:
    """Take the mutex if that can be done now, and fail otherwise.

    To wait for it with a limit of time is the same: a thread that gets the mutex in time has come
    to this step when the mutex was free."""
    mutex = mutex_at(low, node.arguments[0])
    owner, span = mutex.owner, node.span
    code: Expr = Const(failure)
    if timed:
        valid = read_limit(low, node.arguments[-1])
        code = low.hold(conditional(valid, code, Const(_invalid(node))), span, INT)
    result = flag_cell(low, span)
    free = binary("eq", Load(owner.address), ZERO)
    take: tuple[Operation, ...] = (Assign(owner.address, low.me), Assign(result, ZERO))
    if mutex.kinds and timed:  # who checks for errors does not wait for itself
        erring = binary("eq", Load(mutex.kind), Const(ERRORCHECK))
        mine = binary("eq", Load(owner.address), low.me)
        code = conditional(both(mine, erring), Const(EDEADLK), code)
    fail: tuple[Operation, ...] = (Assign(result, code),)
    ways: list[tuple[Expr | None, tuple[Operation, ...]]]
    if mutex.kinds:
        take = (*take, Assign(mutex.count, ONE))
        again = both(
            binary("eq", Load(owner.address), low.me),
            binary("eq", Load(mutex.kind), Const(RECURSIVE)),
        )
        more = (
            Assign(mutex.count, binary("add", Load(mutex.count), ONE)),
            Assign(result, ZERO),
        )
        ways = [(free, take), (again, more), (negate(either(free, again)), fail)]
    else:
        ways = [(free, take), (negate(free), fail)]
    text = f"try to acquire {owner.title}"
    low.take_one_of(Kind.TRY_ACQUIRE, span, text, ways, atomic=True, subject=owner.address)
    return Scalar(INT, Load(result))


def _late(node: tree.Call) -> int:
    """What a function returns when the time is over."""
    return ETIMEDOUT if called_name(node).startswith("pthread") else THRD_TIMEDOUT


def _invalid(node: tree.Call) -> int:
    """Return the error of a function for an invalid limit of time."""
    return EINVAL if called_name(node).startswith("pthread") else THRD_ERROR


@library("pthread_mutex_unlock", "mtx_unlock")
def _unlock(low: CLowering, node: tree.Call) -> Scalar:
    return unlock(low, mutex_at(low, node.arguments[0]), node.span)


def unlock(low: CLowering, mutex: MutexCells, span: Span) -> Scalar:
    owner = mutex.owner
    if not mutex.kinds:
        _shape(low).release(low, owner, span)
        return SUCCESS
    result = flag_cell(low, span)
    mine = binary("eq", Load(owner.address), low.me)
    last = both(mine, binary("le", Load(mutex.count), ONE))
    more = both(mine, binary("gt", Load(mutex.count), ONE))
    normal = binary("eq", Load(mutex.kind), ZERO)
    message = f"release of `{owner.title}`, which this thread does not hold"
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = [
        (last, (Assign(mutex.count, ZERO), Assign(owner.address, ZERO), Assign(result, ZERO))),
        (more, (Assign(mutex.count, binary("sub", Load(mutex.count), ONE)), Assign(result, ZERO))),
        (
            negate(mine),
            (Check(negate(normal), Fault.LOCK, message), Assign(result, Const(EPERM))),
        ),
    ]
    text = f"release {owner.title}"
    low.take_one_of(Kind.RELEASE, span, text, ways, atomic=True, subject=owner.address)
    return Scalar(INT, Load(result))


# --- spin locks --------------------------------------------------------------------------------


@library("pthread_spin_init", unread=(1,))
def _spin_init(low: CLowering, node: tree.Call) -> Scalar:
    owner = sync_object(low, node.arguments[0], _shape(low))
    operations: list[Operation] = [Assign(owner.address, ZERO)]
    _act(low, Kind.CLEAR, node.span, f"initialize {owner.title}", owner, operations)
    return SUCCESS


@library("pthread_spin_lock")
def _spin_lock(low: CLowering, node: tree.Call) -> Scalar:
    _shape(low).acquire(low, sync_object(low, node.arguments[0], _shape(low)), node.span)
    return SUCCESS


@library("pthread_spin_trylock")
def _spin_trylock(low: CLowering, node: tree.Call) -> Scalar:
    owner = sync_object(low, node.arguments[0], _shape(low))
    taken = _shape(low).try_acquire(low, owner, node.span)
    return Scalar(INT, conditional(taken, ZERO, Const(EBUSY)))


@library("pthread_spin_unlock")
def _spin_unlock(low: CLowering, node: tree.Call) -> Scalar:
    _shape(low).release(low, sync_object(low, node.arguments[0], _shape(low)), node.span)
    return SUCCESS


# --- condition variables -----------------------------------------------------------------------


@library("pthread_cond_init", "cnd_init", unread=(1,))
def _cond_init(low: CLowering, node: tree.Call) -> Scalar:
    touch(low, node.arguments[0])
    return SUCCESS


@library("pthread_cond_wait", "cnd_wait")
def _cond_wait(low: CLowering, node: tree.Call) -> Scalar:
    """Wait, as POSIX has it: the thread may also wake up without a reason.

    Whether it does is chosen when it begins to wait.  So a search sees both what a spurious wake-up
    breaks, and that a thread which nobody wakes waits for ever.
    """
    return _wait_at(low, node, None)


@library("pthread_cond_timedwait", "cnd_timedwait", "pthread_cond_clockwait")
def _cond_timedwait(low: CLowering, node: tree.Call) -> Scalar:
    """Wait with a limit of time: without a signal, the thread continues once the mutex is free.

    The choice when it begins to wait has a third outcome: the time is over before a signal.  It
    loses no later end of the time, since a signal does nothing to a thread that it does not
    wake; and it is needed, since a thread whose time is over may wait for the mutex while another
    one signals in vain.
    """
    return _wait_at(low, node, _late(node))


def _wait_at(low: CLowering, node: tree.Call, late: int | None) -> Scalar:
    """Wait at a condition; `late` is the result when the time is over, if there is a limit.

    Where the limit is invalid the thread does not wait."""
    span = node.span
    condition = sync_object(low, node.arguments[0], _shape(low))
    mutex = mutex_at(low, node.arguments[1])
    result = flag_cell(low, span)
    end = None
    if late is not None:
        valid = read_limit(low, node.arguments[-1])
        fine, wrong, end = (low.label(span) for _ in range(3))
        low.split(valid, span, f"{node.arguments[-1].text} is valid", fine, wrong)
        low.put(wrong, span)
        low.step(Kind.LOCAL, span, node.text, operations=(Assign(result, Const(_invalid(node))),))
        low.go(end, span)
        low.put(fine, span)
    owner = mutex.owner
    mine = condition.cell(low.number)
    held = binary("eq", Load(owner.address), low.me)
    message = f"wait at `{condition.title}` without holding `{owner.title}`"
    chosen = conditional(binary("eq", Choice(), Const(2)), Const(late or 0), ZERO)
    free = binary("eq", Load(owner.address), ZERO)
    release: tuple[Operation, ...] = (Assign(owner.address, ZERO),)
    take: tuple[Operation, ...] = (Assign(owner.address, low.me),)
    if mutex.kinds:  # a recursive one is released once, and perhaps still held
        count = Load(mutex.count)
        still = conditional(binary("gt", count, ONE), low.me, ZERO)
        less = binary("max", binary("sub", count, ONE), ZERO)
        more = binary("min", binary("add", count, ONE), Const(low.machine.limits.max_depth))
        release = (Assign(owner.address, still), Assign(mutex.count, less))
        take = (*take, Assign(mutex.count, more))
        free = either(free, held)

    low.step(
        Kind.WAIT,
        span,
        f"wait at {condition.title}",
        operations=(
            Check(held, Fault.LOCK, message),
            Assign(mine, binary("eq", Choice(), ZERO)),
            Assign(result, chosen),
            *release,
        ),
        choices=2 if late is None else 3,
        atomic=True,
        subject=condition.address,
    )
    woken: Expr = binary("eq", Load(mine), ZERO)
    if late is not None:
        code = conditional(Load(mine), Const(late), Load(result))
        take = (*take, Assign(result, code), Assign(mine, ZERO))
        woken = ONE
    low.act(
        Kind.WAKE,
        span,
        f"wake up at {condition.title}",
        condition,
        *take,
        guard=both(woken, free),
    )
    if end is not None:
        low.put(end, span)
    return Scalar(INT, Load(result))


@library("pthread_cond_signal", "cnd_signal")
def _signal(low: CLowering, node: tree.Call) -> Scalar:
    """Wake any one of those who wait; where nobody waits, nothing happens."""
    condition = sync_object(low, node.arguments[0], _shape(low))
    threads, span = low.program.threads, node.span
    others = [number for number in range(threads) if number != low.number]
    nobody: Expr = ONE
    for number in reversed(others):
        nobody = both(binary("eq", Load(condition.cell(number)), ZERO), nobody)
    text = f"signal {condition.title}"
    end = low.label(span)
    low.lead_to(end, span)
    parts = {"atomic": True, "subject": condition.address}
    low.add_edge(Kind.NOTIFY, span, text, end, guard=nobody, **parts)  # type: ignore[arg-type]
    if others:
        _wake_one(low, condition, others, negate(nobody), end, span, text)
    low.require_automaton().current = None
    low.put(end, span)
    return SUCCESS


def _wake_one(
    low: CLowering,
    condition: Reference,
    others: list[int],
    somebody: Expr,
    end: object,
    span: Span,
    text: str,
) -> None:
    """Choose who wakes up; a choice of somebody who does not wait is none."""
    from mazurka.frontend.kit.program import Label

    assert isinstance(end, Label)
    automaton = low.require_automaton()
    chosen = Const(low.take_temporary(Role.INT, span))
    depth, automaton.atomic_depth = automaton.atomic_depth, automaton.atomic_depth + 1
    inside = automaton.new_label(span)
    automaton.atomic_depth = depth
    low.add_edge(
        Kind.NOTIFY, span, text, inside, guard=somebody, operations=(Assign(chosen, Choice()),),
        choices=len(others), atomic=True, subject=condition.address,
    )  # fmt: skip
    automaton.current = None
    automaton.atomic_depth = depth + 1
    automaton.place(inside, span)
    for position, number in enumerate(others):
        waiting = condition.cell(number)
        guard = both(binary("eq", Load(chosen), Const(position)), binary("ne", Load(waiting), ZERO))
        low.add_edge(
            Kind.NOTIFY, span, text, end, guard=guard, operations=(Assign(waiting, ZERO),),
            atomic=True, subject=condition.address,
        )  # fmt: skip
    automaton.current = None
    automaton.atomic_depth = depth


@library("pthread_cond_broadcast", "cnd_broadcast")
def _broadcast(low: CLowering, node: tree.Call) -> Scalar:
    condition = sync_object(low, node.arguments[0], _shape(low))
    clear = [Assign(condition.cell(number), ZERO) for number in range(low.program.threads)]
    text = f"broadcast {condition.title}"
    low.act(Kind.NOTIFY, node.span, text, condition, *clear)
    return SUCCESS


# --- reader-writer locks -----------------------------------------------------------------------


def _rwlock(low: CLowering, node: tree.Call) -> tuple[RWLockShape, Reference]:
    shape = RWLockShape(low.program.threads)
    return shape, sync_object(low, node.arguments[0], shape)


@library("pthread_rwlock_init", unread=(1,))
def _rwlock_init(low: CLowering, node: tree.Call) -> Scalar:
    shape, owner = _rwlock(low, node)
    operations: list[Operation] = [Assign(owner.cell(each), ZERO) for each in range(shape.size)]
    _act(low, Kind.CLEAR, node.span, f"initialize {owner.title}", owner, operations)
    return SUCCESS


@library("pthread_rwlock_rdlock")
def _rdlock(low: CLowering, node: tree.Call) -> Scalar:
    _, owner = _rwlock(low, node)
    mine, limit = owner.cell(1 + low.number), low.machine.limits.max_depth
    message = f"`{owner.title}` is taken more than {limit} times over (--max-depth)"
    low.act(
        Kind.ACQUIRE, node.span, f"acquire {owner.title} to read", owner,
        Check(binary("lt", Load(mine), Const(limit)), Fault.BOUND, message),
        Assign(mine, binary("add", Load(mine), ONE)),
        guard=binary("eq", Load(owner.address), ZERO),
    )  # fmt: skip
    return SUCCESS


@library("pthread_rwlock_wrlock")
def _wrlock(low: CLowering, node: tree.Call) -> Scalar:
    shape, owner = _rwlock(low, node)
    shape.acquire_write(low, owner, node.span)
    return SUCCESS


@library(
    "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
    "pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock",
)  # fmt: skip
def _try_rwlock(low: CLowering, node: tree.Call) -> Scalar:
    shape, owner = _rwlock(low, node)
    failure: Expr = Const(EBUSY)
    if "_try" not in called_name(node):
        valid = read_limit(low, node.arguments[-1])
        failure = low.hold(conditional(valid, Const(ETIMEDOUT), Const(EINVAL)), node.span, INT)
    free = binary("eq", Load(owner.address), ZERO)
    mine = owner.cell(1 + low.number)
    take = Assign(mine, binary("add", Load(mine), ONE))
    if called_name(node).endswith("wrlock"):
        free = both(free, shape._no_reader(owner))
        take = Assign(owner.address, low.me)
    else:
        free = both(free, binary("lt", Load(mine), Const(low.machine.limits.max_depth)))
    taken = low.attempt(
        Kind.TRY_ACQUIRE, node.span, f"try to acquire {owner.title}", owner, take,
        success=free, failure=negate(free),
    )  # fmt: skip
    return Scalar(INT, conditional(taken, ZERO, failure))


@library("pthread_rwlock_unlock")
def _rwlock_unlock(low: CLowering, node: tree.Call) -> Scalar:
    _, owner = _rwlock(low, node)
    mine = owner.cell(1 + low.number)
    writes = binary("eq", Load(owner.address), low.me)
    reads = binary("ne", Load(mine), ZERO)
    message = f"release of `{owner.title}`, which this thread does not hold"
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = [
        (writes, (Assign(owner.address, ZERO),)),
        (
            negate(writes),
            (
                Check(reads, Fault.LOCK, message),
                Assign(mine, binary("sub", Load(mine), ONE)),
            ),
        ),
    ]
    text = f"release {owner.title}"
    low.take_one_of(Kind.RELEASE, node.span, text, ways, atomic=True, subject=owner.address)
    return SUCCESS
