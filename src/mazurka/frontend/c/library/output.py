"""Functions whose effects are not part of a verdict: output, sleeping, the time."""

from __future__ import annotations

import re

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import choose_any
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.verifier import strip_conversions
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.types import IntegerType, PointerType, VoidType, bare
from mazurka.frontend.c.values import NOWHERE, Scalar
from mazurka.ir.expressions import ZERO, Const
from mazurka.ir.program import Check, Fault, Kind


@library(
    "printf", "fprintf", "puts", "fputs", "putchar", "putc", "fputc", "fflush", "perror", "vprintf",
    "vfprintf", "vsyslog", "syslog", "openlog", "closelog",
    "sleep", "usleep", "nanosleep", "thrd_sleep", "srand", "srandom", "setbuf", "setvbuf",
    "printk", "strerror", "__builtin_printf", "fclose", "write", "warn", "warnx",
    "sysconf", "pthread_setschedparam", "pthread_setschedprio", "pthread_setaffinity_np",
    "sched_setaffinity",
)  # fmt: skip
def _ignore(low: CLowering, node: tree.Call) -> Scalar:
    """Evaluate arguments that do something or read shared data, and nothing else."""
    for argument in node.arguments:
        inner = argument
        while isinstance(inner, tree.Conversion):
            inner = inner.operand
        if isinstance(inner, tree.StringLiteral):
            continue
        if isinstance(inner, tree.Name) and inner.variable.external:
            continue
        low.effect(argument)
    _refuse_count(low, node)
    return _some(low, node)


def _refuse_count(low: CLowering, node: tree.Call) -> None:
    """Refuse `%n`, which stores how much was written."""
    if "print" not in node.callee.text:
        return
    for inner in map(strip_conversions, node.arguments):
        form = inner.data.replace(b"%%", b"") if isinstance(inner, tree.StringLiteral) else b""
        if re.search(rb"%[hljzt]*n", form):
            raise low.refuse(node, f"`{node.text}`: `%n` is not supported")


def _some(low: CLowering, node: tree.Call) -> Scalar:
    """What such a function returns: of output any number where somebody looks at it, as a pointer
    one that must not be followed; sleeping is never cut short."""
    kind = bare(node.type)
    if isinstance(kind, VoidType):
        return Scalar(kind, ZERO)
    if isinstance(kind, PointerType):
        return Scalar(kind, Const(NOWHERE))
    if node in low.ignored or node.callee.text in ("sleep", "usleep", "nanosleep", "thrd_sleep"):
        return Scalar(kind, ZERO)
    return choose_any(low, kind, node.span, node.text)


@library("time", "clock_gettime", "timespec_get", "clock", "gettimeofday")
def _time(low: CLowering, node: tree.Call) -> Scalar:
    """The time is any number."""
    from mazurka.frontend.c.access import set_any
    from mazurka.frontend.c.library.arguments import target_of

    name = node.callee.text
    if name in ("time", "clock_gettime", "timespec_get", "gettimeofday"):
        target = target_of(low, node.arguments[-1 if name == "clock_gettime" else 0])
        if target is not None:
            set_any(low, target, node.span)
    if name in ("time", "clock"):
        return choose_any(low, node.type, node.span, node.text)
    if name == "timespec_get":
        return low.scalar(node.arguments[1])
    return Scalar(INT, ZERO)


@library("abs", "labs", "llabs")
def _abs(low: CLowering, node: tree.Call) -> Scalar:
    from mazurka.frontend.c.arithmetic import narrow
    from mazurka.frontend.kit.arithmetic import binary, unary

    value = low.scalar(node.arguments[0])
    kind = bare(value.type)
    assert isinstance(kind, IntegerType)
    value = Scalar(kind, low.hold(value.expr, node.span, kind))
    if low.machine.limits.overflow:
        lowest = Const(-(1 << (kind.bits - 1)))
        message = f"`{node.text}` overflows"
        check = Check(binary("ne", value.expr, lowest), Fault.RANGE, message)
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,))
    return Scalar(kind, narrow(unary("abs", value.expr), kind.bits, True))
