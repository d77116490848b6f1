"""Functions whose effects are not part of a verdict: output and sleeping."""

from __future__ import annotations

import re

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import choose_any
from mazurka.frontend.c.arithmetic import convert_number
from mazurka.frontend.c.library.formats import Given, count_letters, text_given
from mazurka.frontend.c.library.verifier import strip_conversions
from mazurka.frontend.c.lowering import CLowering, library, role_of
from mazurka.frontend.c.types import IntegerType, PointerType, VoidType, bare
from mazurka.frontend.c.values import NOWHERE, Scalar
from mazurka.frontend.kit.arithmetic import binary
from mazurka.ir.expressions import ZERO, Choice, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind

_EOF = Const(-1)
_MOST = (1 << 31) - 1
_SLEEPING = frozenset({"sleep", "usleep"})


@library(
    "printf", "fprintf", "puts", "fputs", "putchar", "putc", "fputc", "fflush", "perror", "vprintf",
    "vfprintf", "vsyslog", "syslog", "openlog", "closelog",
    "sleep", "usleep", "srand", "srandom", "setbuf", "setvbuf",
    "printk", "strerror", "__builtin_printf", "fclose", "write", "warn", "warnx",
    "sysconf", "pthread_setschedparam", "pthread_setschedprio", "pthread_setaffinity_np",
    "sched_setaffinity",
)  # fmt: skip
def _ignore(low: CLowering, node: tree.Call) -> Scalar:
    """Evaluate arguments that do something or read shared data, and nothing else."""
    _refuse_count(low, node)
    given: list[Given] = []
    for argument in node.arguments:
        inner = strip_conversions(argument)
        if isinstance(inner, tree.StringLiteral):
            given.append(inner.data[:-1].decode("latin-1"))
        elif isinstance(inner, tree.Name) and inner.variable.external:
            given.append(None)
        elif node in low.ignored:
            low.effect(argument)
        else:
            value = low.value(argument)
            given.append(low.hold_value(value, node.span) if isinstance(value, Scalar) else None)
    return _result(low, node, given)


def _refuse_count(low: CLowering, node: tree.Call) -> None:
    """Refuse `%n`, which stores how much was written."""
    if "print" not in node.callee.text:
        return
    for inner in map(strip_conversions, node.arguments):
        form = inner.data.replace(b"%%", b"") if isinstance(inner, tree.StringLiteral) else b""
        if re.search(rb"%[hljzt]*n", form):
            raise low.refuse(node, f"`{node.text}`: `%n` is not supported")


def _result(low: CLowering, node: tree.Call, given: list[Given]) -> Scalar:
    """What such a function returns: output may fail, sleeping is never cut short, and a pointer
    must not be followed."""
    kind, name = bare(node.type), node.callee.text
    if isinstance(kind, VoidType):
        return Scalar(kind, ZERO)
    if isinstance(kind, PointerType):
        return Scalar(kind, Const(NOWHERE))
    if node in low.ignored or name in _SLEEPING or not low.reachable:
        return Scalar(kind, ZERO)
    match name:
        case "printf" | "fprintf" | "__builtin_printf":
            first = 1 if name == "fprintf" else 0
            text = text_given(low, given[first])
            least, exact = count_letters(low, text, given[first + 1 :])
            return _choose_result(low, node, None, (least, ZERO if exact else Const(_MOST)))
        case "vprintf" | "vfprintf":
            return _choose_result(low, node, None, (ZERO, Const(_MOST)))
        case "puts" | "fputs":
            return _choose_result(low, node, _EOF, (ZERO, Const(_MOST)))
        case "putchar" | "putc" | "fputc":
            letter = given[0]
            assert isinstance(letter, Scalar)
            inner = bare(letter.type)
            assert isinstance(inner, IntegerType)
            written = convert_number(letter.expr, inner, IntegerType("unsigned char", 8, False))
            return _choose_result(low, node, _EOF, (written, ZERO))
        case "fflush" | "fclose":
            return _choose_result(low, node, _EOF, (ZERO, ZERO))
    return choose_any(low, kind, node.span, node.text)


def _choose_result(
    low: CLowering, node: tree.Call, failure: Expr | None, success: tuple[Expr, Expr]
) -> Scalar:
    """A number from the first one of `success` on, or `failure`, which may be any number below 0.

    The second one of `success` is 0 where that is the only number."""
    kind, span = bare(node.type), node.span
    result = Const(low.take_temporary(role_of(kind), span))
    fine, failed, end = (low.label(span) for _ in range(3))
    fails = Const(low.take_temporary(role_of(kind), span))
    low.step(Kind.CHOOSE, span, node.text, operations=(Assign(fails, Choice()),), choices=2)
    low.split(Load(fails), span, f"{node.text} fails", failed, fine)
    low.put(failed, span)
    any_failure = binary("add", Choice(), Const(-_MOST - 1))
    value, choices = (any_failure, _MOST + 1) if failure is None else (failure, 1)
    how = Kind.CHOOSE if choices > 1 else Kind.LOCAL
    low.step(how, span, node.text, operations=(Assign(result, value),), choices=choices)
    low.go(end, span)
    low.put(fine, span)
    least, most = success
    if most == ZERO:
        low.step(Kind.LOCAL, span, node.text, operations=(Assign(result, least),))
    elif isinstance(least, Const):
        value = binary("add", Choice(), least)
        choices = _MOST + 1 - least.value
        low.step(Kind.CHOOSE, span, node.text, operations=(Assign(result, value),), choices=choices)
    else:
        value = binary("max", Choice(), least)
        low.step(
            Kind.CHOOSE, span, node.text, operations=(Assign(result, value),), choices=_MOST + 1
        )
    low.go(end, span)
    low.put(end, span)
    return Scalar(kind, Load(result))


@library("abs", "labs", "llabs")
def _abs(low: CLowering, node: tree.Call) -> Scalar:
    from mazurka.frontend.c.arithmetic import narrow
    from mazurka.frontend.kit.arithmetic import unary

    value = low.scalar(node.arguments[0])
    kind = bare(value.type)
    assert isinstance(kind, IntegerType)
    value = low.hold_value(Scalar(kind, value.expr), node.span)
    if low.machine.limits.overflow:
        lowest = Const(-(1 << (kind.bits - 1)))
        message = f"`{node.text}` overflows"
        check = Check(binary("ne", value.expr, lowest), Fault.RANGE, message)
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,))
    return Scalar(kind, narrow(unary("abs", value.expr), kind.bits, True))
