"""Input, which may be anything, and `errno`: what input is stored in gets any value."""

from __future__ import annotations

import re

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import choose_any, set_any
from mazurka.frontend.c.expressions import INT
from mazurka.frontend.c.library.arguments import find_errno, set_errno, target_of
from mazurka.frontend.c.library.verifier import strip_conversions
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.memory import thread_variable
from mazurka.frontend.c.types import VOID, PointerType
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Load
from mazurka.ir.program import Assign, Kind, Role

_TEXTS = re.compile(r"%\*?\d*l?[s\[]")


@library("gets", "fgets")
def _refuse(low: CLowering, node: tree.Call) -> Scalar:
    name = node.callee.text
    raise low.refuse(node, f"`{name}` is not supported; use __VERIFIER_nondet_char()")


@library("scanf", "fscanf", "sscanf")
def _scan(low: CLowering, node: tree.Call) -> Scalar:
    """Give what the pointers lead to any value; the result says how many were found, or that there
    was no input."""
    at = 0 if node.callee.text == "scanf" else 1
    if node.callee.text == "sscanf" and isinstance(
        strip_conversions(node.arguments[0]), tree.StringLiteral
    ):
        raise low.refuse(node, f"`{node.text}`: what is in a known text is not found; use strtol()")
    form = strip_conversions(node.arguments[at])
    if not isinstance(form, tree.StringLiteral):
        raise low.refuse(node, f"`{node.text}`: the format must be a string literal")
    if _TEXTS.search(form.data.decode("latin-1")):
        raise low.refuse(node, f"`{node.text}` reads a text; use __VERIFIER_nondet_char()")
    targets = node.arguments[at + 1 :]
    for argument in targets:
        place = target_of(low, argument)
        if place is not None:
            set_any(low, place, node.span)
    return _number(low, node, len(targets))


@library("getchar", "getc", "fgetc")
def _character(low: CLowering, node: tree.Call) -> Scalar:
    """A character, or -1 for the end of the input."""
    return _number(low, node, 255)


def _number(low: CLowering, node: tree.Call, most: int) -> Scalar:
    """Any number from -1 on."""
    cell = Const(low.take_temporary(Role.INT, node.span))
    chosen = (Assign(cell, binary("sub", Choice(), ONE)),)
    low.step(Kind.CHOOSE, node.span, node.text, operations=chosen, choices=most + 2)
    return Scalar(INT, Load(cell))


@library("atoi", "atol", "atoll", "strtol", "strtoul", "strtoll", "strtoull")
def _convert(low: CLowering, node: tree.Call) -> Scalar:
    """The number in a text, where `stdlib.h` is not ours: any."""
    if len(node.arguments) > 1 and low.scalar(node.arguments[1]).constant != 0:
        raise low.refuse(
            node, f"`{node.text}`: where the number ends is not known; give the .c file"
        )
    return choose_any(low, node.type, node.span, node.text)


@library("__mazurka_set_errno")
def _set_errno(low: CLowering, node: tree.Call) -> Scalar:
    set_errno(low, low.scalar(node.arguments[0]).expr, node.span)
    return Scalar(VOID, ZERO)


@library("__errno_location")
def _errno_location(low: CLowering, node: tree.Call) -> Scalar:
    """Where `errno` is, for headers that are not ours."""
    variable = find_errno(low)
    assert variable is not None
    return Scalar(PointerType(INT, 64), thread_variable(low, variable).address)
