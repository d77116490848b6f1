"""Expressions of the intermediate representation.

Every expression denotes a 64-bit two's complement integer; truth is 1, falsehood 0.
Evaluation is strict and goes left to right, except for `Conditional`, which evaluates
only the branch it takes: this is how short circuits are written.  The meaning of each
node is defined in `docs/semantics.md`; the interpreter, the native code and every
analysis implement that text.

An *address* is an ordinary value: the position of a cell in `Program.cells`.
Address 0 is null; no cell can be reached through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

UNARY_OPERATORS = frozenset({"neg", "not", "invert", "abs"})

BINARY_OPERATORS = frozenset(
    {
        "add", "sub", "mul",            # wrap around at 64 bits
        "floordiv", "mod",              # Python's: the quotient rounds towards minus infinity
        "div", "rem",                   # C's: the quotient rounds towards zero
        "udiv", "urem",                 # on the bits as unsigned numbers
        "and", "or", "xor", "shl", "shr", "lshr",
        "eq", "ne", "lt", "le", "gt", "ge", "ult", "ule",
        "min", "max",
    }
)  # fmt: skip

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "ult", "ule"})
DIVISIONS = frozenset({"floordiv", "mod", "div", "rem", "udiv", "urem"})
SHIFTS = frozenset({"shl", "shr", "lshr"})


@dataclass(frozen=True, slots=True)
class Const:
    """A known number (or a known address)."""

    value: int


@dataclass(frozen=True, slots=True)
class Load:
    """The value of the cell at `address`; a violation (`memory`) if that is null."""

    address: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """Both operands are evaluated; a zero divisor or a shift outside 0..63 is an `exception`."""

    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    """`then` if `test` is not 0, else `otherwise`; the other branch is not evaluated."""

    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Element:
    """The address `base + index * stride`; a violation (`index`) unless 0 <= index < length."""

    base: Expr
    index: Expr
    length: int
    stride: int


@dataclass(frozen=True, slots=True)
class Convert:
    """The low `width` bits of the operand, read as a signed or an unsigned number."""

    operand: Expr
    width: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The nondeterministic choice made on this edge: 0 <= choice < `Edge.choices`."""


Expr: TypeAlias = Const | Load | Unary | Binary | Conditional | Element | Convert | Choice

ZERO = Const(0)
ONE = Const(1)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions, in order of evaluation."""
    match expr:
        case Const() | Choice():
            return ()
        case Load(address):
            return (address,)
        case Unary(_, operand) | Convert(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(test, then, otherwise):
            return (test, then, otherwise)
        case Element(base, index):
            return (base, index)


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return a copy of `expr` with `change` applied to its direct subexpressions."""
    match expr:
        case Const() | Choice():
            return expr
        case Load(address):
            return Load(change(address))
        case Unary(operator, operand):
            return Unary(operator, change(operand))
        case Convert(operand, width, signed):
            return Convert(change(operand), width, signed)
        case Binary(operator, left, right):
            return Binary(operator, change(left), change(right))
        case Conditional(test, then, otherwise):
            return Conditional(change(test), change(then), change(otherwise))
        case Element(base, index, length, stride):
            return Element(change(base), change(index), length, stride)


def walk(expr: Expr) -> Iterator[Expr]:
    """Iterate over `expr` and all its subexpressions, parents first."""
    waiting = [expr]
    while waiting:
        found = waiting.pop()
        yield found
        kind = type(found)
        if kind is Binary:  # most are of these three kinds
            waiting.append(found.right)  # type: ignore[union-attr]
            waiting.append(found.left)  # type: ignore[union-attr]
        elif kind is Load:
            waiting.append(found.address)  # type: ignore[union-attr]
        elif kind is not Const:
            waiting.extend(children(found)[::-1])


def negate(expr: Expr) -> Expr:
    """Return the logical negation; a comparison is replaced by its opposite."""
    opposite = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
    if isinstance(expr, Binary) and expr.operator in opposite:
        return Binary(opposite[expr.operator], expr.left, expr.right)
    if isinstance(expr, Unary) and expr.operator == "not" and is_truth(expr.operand):
        return expr.operand
    if isinstance(expr, Const):
        return Const(int(expr.value == 0))
    return Unary("not", expr)


def is_truth(expr: Expr) -> bool:
    """Whether the expression can only be 0 or 1, judged by its form alone."""
    match expr:
        case Const(value):
            return value in (0, 1)
        case Unary(operator):
            return operator == "not"
        case Binary(operator):
            return operator in COMPARISONS
        case Conditional(_, then, otherwise):
            return is_truth(then) and is_truth(otherwise)
        case _:
            return False


def truth(expr: Expr) -> Expr:
    """Return an expression that is 1 if `expr` is not 0, else 0."""
    return expr if is_truth(expr) else Binary("ne", expr, ZERO)
