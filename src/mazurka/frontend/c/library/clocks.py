"""The time: a clock that can be set is anything, others never go back.

A monotonic clock has cells with what some thread has read last; a later reading of any thread is
that or more.  It begins anywhere below 2**31 seconds and never passes that, so that a program can
count in nanoseconds.
"""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import cell_address, choose_any, read, write
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import (
    EINVAL,
    called_name,
    required_target,
    set_errno,
    target_of,
)
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.types import IntegerType, bare
from mazurka.frontend.c.values import ObjectPlace, Scalar
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load
from mazurka.ir.program import Assign, Kind, Role

_LONG = IntegerType("long", 64, True)
_MOST_SECONDS = 1 << 31
_MOST_TICKS = _MOST_SECONDS * 1_000_000
_PARTS = {"tv_nsec": 1_000_000_000, "tv_usec": 1_000_000}
"""The fields that hold a part of a second, and how many there are in one."""
_THREAD_CLOCK = 3
_MONOTONIC = frozenset({1, 2, _THREAD_CLOCK, 4, 6, 7})
"""Linux' numbers of clocks that nobody can set."""


@library("time", "timespec_get", "gettimeofday")
def _time(low: CLowering, node: tree.Call) -> Scalar:
    """The time of day is anything: the clock may be set."""
    name = node.callee.text
    target = target_of(low, node.arguments[0])
    if name == "time":
        now = choose_any(low, node.type, node.span, node.text)
        if target is not None:
            write(low, target, now, node.span)
        return now
    if target is not None:
        _write_time(low, node, target, None)
    return low.scalar(node.arguments[1]) if name == "timespec_get" else Scalar(INT, ZERO)


@library("clock_gettime")
def _clock_gettime(low: CLowering, node: tree.Call) -> Scalar:
    clock = low.scalar(node.arguments[0]).constant
    if clock is None:
        raise low.refuse(node, f"`{node.text}`: which clock this reads is not known here")
    target = target_of(low, node.arguments[1])
    if target is not None:
        _write_time(low, node, target, clock if clock in _MONOTONIC else None)
    return Scalar(INT, ZERO)


@library("clock")
def _clock(low: CLowering, node: tree.Call) -> Scalar:
    """The processor's time that the process has used: it never goes back."""
    (last,) = _last_reading(low, node, "clock()", 1)
    now = binary("max", Load(last), Choice())
    cell = Const(low.take_temporary(Role.INT, node.span))
    operations = (Assign(cell, now), Assign(last, Load(cell)))
    low.step(
        Kind.CHOOSE, node.span, node.text, operations=operations, choices=_MOST_TICKS, atomic=True
    )
    return Scalar(node.type, Load(cell))


@library("nanosleep", "thrd_sleep", unread=(1,))
def _sleep(low: CLowering, node: tree.Call) -> Scalar:
    """Sleeping takes no time and is never cut short."""
    valid, span = read_limit(low, node.arguments[0]), node.span
    if called_name(node) == "thrd_sleep":
        return Scalar(INT, conditional(valid, ZERO, Const(-2)))
    fine, wrong = low.label(span), low.label(span)
    low.split(valid, span, f"{node.arguments[0].text} is valid", fine, wrong)
    low.put(wrong, span)
    set_errno(low, Const(EINVAL), span)
    low.go(fine, span)
    low.put(fine, span)
    return Scalar(INT, conditional(valid, ZERO, Const(-1)))


def read_limit(low: CLowering, argument: tree.Expression) -> Expr:
    """Read the time until which a function waits, also where it need not wait; return whether the
    number of nanoseconds is valid."""
    target = required_target(low, argument)
    valid: Expr = ONE
    if target is None or not low.reachable:
        return valid
    for offset, part in enumerate(low.machine.layouts.parts(target.type)):
        place = target.at(part.type, cell_address(target, offset), target.title + part.suffix)
        value = read(low, place, argument.span)
        if isinstance(value, Scalar) and part.suffix.endswith("tv_nsec"):
            valid = binary("ult", value.expr, Const(_PARTS["tv_nsec"]))
    return valid


def _write_time(low: CLowering, node: tree.Call, target: ObjectPlace, clock: int | None) -> None:
    """Read a clock; what it shows goes to a structure of seconds and a part of a second."""
    parts = low.machine.layouts.parts(target.type)
    names = [part.suffix.rpartition(".")[2] for part in parts]
    if len(parts) != 2 or names[0] != "tv_sec" or names[1] not in _PARTS:
        raise low.refuse(node, f"`{node.text}`: this structure holds no time")
    fraction = _PARTS[names[1]]
    if clock is None:
        seconds = choose_any(low, parts[0].type, node.span, node.text)
        cell = Const(low.take_temporary(Role.INT, node.span))
        _choose(low, node, [Assign(cell, Choice())], fraction)
        values: list[Expr] = [seconds.expr, Load(cell)]
    else:
        values = _read_monotonic(low, node, clock, fraction)
    for offset, (part, value) in enumerate(zip(parts, values, strict=True)):
        title = target.title + part.suffix
        place = target.at(part.type, cell_address(target, offset), title)
        write(low, place, Scalar(bare(part.type), value), node.span)


def _read_monotonic(low: CLowering, node: tree.Call, clock: int, fraction: int) -> list[Expr]:
    """A reading that is not before those that are complete where it begins."""
    title = f"clock {clock}"
    if clock == _THREAD_CLOCK:
        title += f" of {low.thread_title}"
    last, last_part = _last_reading(low, node, title, 2)
    seconds, part = (Const(low.take_temporary(Role.INT, node.span)) for _ in range(2))
    least = conditional(binary("eq", Load(seconds), Load(last)), Load(last_part), ZERO)
    _choose(low, node, [
        Assign(seconds, binary("max", Load(last), Choice())), Assign(part, least),
        Assign(last, Load(seconds)), Assign(last_part, Load(part)),
    ], _MOST_SECONDS)  # fmt: skip
    same = binary("eq", Load(seconds), Load(last))  # otherwise another thread has read a later time
    latest = conditional(same, binary("max", Load(last_part), Load(part)), Load(last_part))
    _choose(low, node, [
        Assign(part, binary("max", Load(part), Choice())), Assign(last_part, latest),
    ], fraction)  # fmt: skip
    return [Load(seconds), Load(part)]


def _choose(low: CLowering, node: tree.Call, operations: list[Assign], choices: int) -> None:
    low.step(Kind.CHOOSE, node.span, node.text, operations=operations, choices=choices, atomic=True)


def _last_reading(low: CLowering, node: tree.Call, title: str, count: int) -> list[Const]:
    """The cells with what a clock has shown last."""
    machine = low.machine
    first = machine.clocks.get(title)
    if first is None:
        storage = machine.draft.storage
        first = machine.clocks[title] = len(storage.cells)
        for number in range(count):
            name = f"{title}.{number}" if number else title
            storage.add(CellDraft(name, role=Role.SYNC, inferred=True, span=node.span))
    return [Const(first + each) for each in range(count)]
