"""How threads end, and threads made while the program runs.

Every place in the code that makes a thread has its own slots, fixed before the program runs: one
where the place runs once, up to `max_threads` where it is in a loop that may go on.  A slot is a
thread that stands idle until it is started; it is not used again.  A thread's handle is its number
plus one, which is also the address of its program counter, so any handle can be started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mazurka.frontend.kit.arithmetic import binary, both
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.program import DONE, NEW, STARTED, Label, ThreadPlan
from mazurka.frontend.kit.shapes import INTEGER, CellDraft, Reference
from mazurka.ir.expressions import ONE, ZERO, Const, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Check,
    Fault,
    Kind,
    Operation,
    Role,
    Span,
)

MOST_THREADS = 256

Slot: TypeAlias = tuple[ThreadPlan, tuple[Operation, ...]]
"""A thread that waits to be started, and what hands its arguments over to it."""


def create(build: ThreadBuilder, span: Span, function: str, slot: Slot, *, start: bool) -> Expr:
    """Make a thread where the code runs once; returns its handle."""
    plan, hand_over = slot
    handle = Const(plan.number + 1)
    operations = hand_over + (_start_operations(build, handle) if start else ())
    if operations and build.automaton is not None:
        # Without an automaton, the arguments are in their cells from the beginning.
        text = f"create {function}"
        build.step(Kind.CREATE, span, text, operations=operations, atomic=True)
    return handle


def create_in_loop(
    build: ThreadBuilder,
    span: Span,
    function: str,
    slots: int,
    make_slot: Callable[[], Slot],
    *,
    start: bool,
) -> Expr:
    """Make a thread where the code may run often; returns its handle.

    A counter says which slot is next; when they have run out, a bound is passed.
    """
    title, me = f"threads made at line {span.line}", build.number
    cell = CellDraft(title, high=slots, owner=me, role=Role.SYNC, span=span)
    counter = build.program.storage.add(cell)
    handle = Const(build.take_temporary(Role.HANDLE, span))
    made = Load(Const(counter))
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = []
    for position in range(slots):
        plan, hand_over = make_slot()
        number = Const(plan.number + 1)
        operations = (
            *hand_over,
            *(_start_operations(build, number) if start else ()),
            Assign(Const(counter), Const(position + 1)),
            Assign(handle, number),
        )
        ways.append((binary("eq", made, Const(position)), operations))
    ways.append((binary("eq", made, Const(slots)), (_bound_check(build, function),)))
    build.take_one_of(Kind.CREATE, span, f"create {function}", ways, atomic=True)
    return Load(handle)


def create_again(
    build: ThreadBuilder, span: Span, function: str, slots: int, make_slot: Callable[[], Slot]
) -> Expr:
    """Start a thread in a loop that also joins threads; returns its handle.

    The first slot is taken that is new.  Whoever joins a thread makes its slot new again."""
    handle = Const(build.take_temporary(Role.HANDLE, span))
    busy: Expr = ONE
    ways: list[tuple[Expr | None, tuple[Operation, ...]]] = []
    for _ in range(slots):
        plan, hand_over = make_slot()
        number = Const(plan.number + 1)
        operations = (*hand_over, *_start_operations(build, number), Assign(handle, number))
        status = Load(_status(build, number))
        ways.append((both(busy, binary("eq", status, Const(NEW))), operations))
        busy = both(busy, binary("ne", status, Const(NEW)))
    ways.append((busy, (_bound_check(build, function),)))
    build.take_one_of(Kind.CREATE, span, f"create {function}", ways, atomic=True)
    return Load(handle)


def exceed(build: ThreadBuilder, span: Span, function: str) -> None:
    """Say that there are too many threads of this kind; control does not go on."""
    check = _bound_check(build, function)
    build.step(Kind.CREATE, span, f"create {function}", operations=(check,), atomic=True)
    build.require_automaton().current = None


def _bound_check(build: ThreadBuilder, function: str) -> Check:
    limit = build.program.max_threads
    message = f"more than {limit} threads run {function} (--max-threads)"
    return Check(ZERO, Fault.BOUND, message)


def _start_operations(build: ThreadBuilder, handle: Expr) -> tuple[Operation, ...]:
    """Set the thread's program counter, whose address is the handle itself, to its entry."""
    operations: tuple[Operation, ...] = (Assign(handle, Const(FIRST_LOCATION)),)
    if build.program.status:
        operations += (Assign(_status(build, handle), Const(STARTED)),)
    return operations


def _status(build: ThreadBuilder, handle: Expr) -> Expr:
    return binary("add", handle, Const(build.program.status - 1))


def start_thread(build: ThreadBuilder, span: Span, handle: Expr, title: str) -> None:
    """Start a thread that was made before."""
    known = binary("ne", handle, ZERO)
    fresh = binary("eq", Load(handle), Const(IDLE))
    operations = (
        Check(known, Fault.EXCEPTION, f"`{title}` is None, not a thread"),
        Check(fresh, Fault.EXCEPTION, f"`{title}` is started twice"),
        *_start_operations(build, handle),
    )
    build.step(Kind.CREATE, span, f"start {title}", operations=operations, atomic=True)


def join(build: ThreadBuilder, span: Span, handle: Expr, title: str) -> None:
    """Wait until a thread has ended; it must have been started."""
    address = _status(build, handle)
    message = f"join of `{title}`, which has not been started"
    status = Load(address)
    build.take_one_of(
        Kind.JOIN,
        span,
        f"join {title}",
        [
            (binary("eq", status, Const(DONE)), ()),
            (binary("eq", status, Const(NEW)), (Check(ZERO, Fault.EXCEPTION, message),)),
        ],
        atomic=True,
        subject=address,
    )


def is_alive(build: ThreadBuilder, span: Span, handle: Expr, title: str) -> Expr:
    """Whether a thread has been started and has not ended, at this moment."""
    thread = Reference(INTEGER, _status(build, handle), True, title)
    alive = binary("eq", Load(thread.address), Const(STARTED))
    return build.inspect(span, f"{title}.is_alive()", thread, alive)


def finish(build: ThreadBuilder, plan: ThreadPlan, span: Span) -> None:
    """End the thread; whoever joins it learns of that where it was created."""
    automaton, end = build.require_automaton(), Label(FINISHED)
    if not plan.joinable or not build.program.status:
        automaton.jump(end, span)
        return
    done = Assign(Const(build.program.status + plan.number), Const(DONE))
    automaton.add_edge(Kind.EXIT, span, end, operations=(done,), atomic=True, text="end")
    automaton.current = None
