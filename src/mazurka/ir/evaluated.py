"""What an edge does in order: loads, stores, and what may fail in between.

Analyses and passes that must know not only which cells an edge touches but under which condition,
and behind what may fail, read it here.  The order is that of `docs/semantics.md`: operands from
left to right, of a `Conditional` only the branch that is taken, the address of an assignment before
its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mazurka.ir.expressions import (
    DIVISIONS,
    ONE,
    SHIFTS,
    Binary,
    Conditional,
    Element,
    Expr,
    Load,
    children,
    negate,
)

Path: TypeAlias = tuple[Expr, ...]
"""Conditions that have all been found to hold."""


@dataclass(frozen=True, slots=True)
class Touch:
    """A load of the cell at `address`, or a store, where all of `path` holds."""

    path: Path
    address: Expr
    write: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """An evaluation of `expr`, which may fail, where all of `path` holds."""

    path: Path
    expr: Expr


Event: TypeAlias = Touch | Attempt


def follow(expr: Expr, path: Path = ()) -> Iterator[Event]:
    """Iterate over what happens while an expression is evaluated."""
    if isinstance(expr, Conditional):
        yield from follow(expr.test, path)
        yield from follow(expr.then, (*path, expr.test))
        yield from follow(expr.otherwise, (*path, negate(expr.test)))
        return
    for part in children(expr):
        yield from follow(part, path)
    if isinstance(expr, Load):
        yield Attempt(path, expr)
        yield Touch(path, expr.address)
    elif isinstance(expr, Element) or (
        isinstance(expr, Binary) and expr.operator in DIVISIONS | SHIFTS
    ):
        yield Attempt(path, expr)


def follow_all(exprs: Iterable[Expr]) -> Iterator[Event]:
    for expr in exprs:
        yield from follow(expr)


def under(path: Path, then: Expr, otherwise: Expr) -> Expr:
    """Return `then` where all conditions of a path hold, else `otherwise`."""
    for condition in reversed(path):
        if condition != ONE:
            then = Conditional(condition, then, otherwise)
    return then
