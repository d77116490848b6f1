"""Assertions, assumptions, and values that anything may be."""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import choose_any, set_any
from mazurka.frontend.c.expressions import INT, branch_on
from mazurka.frontend.c.library.arguments import strip, target_of
from mazurka.frontend.c.lowering import LIBRARY, CLowering, builtin, library
from mazurka.frontend.c.types import VOID, CType, IntegerType
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import boolean
from mazurka.ir.expressions import ZERO, Choice, Const, Load
from mazurka.ir.program import Assign, Fault, Kind, Role

NOTHING = Scalar(VOID, ZERO)


@library("reach_error", "__VERIFIER_error", unread=(0,))
def _error(low: CLowering, node: tree.Call) -> Scalar:
    low.fail(Fault.ASSERT, f"{node.text} is reached", node.span)
    return NOTHING


@library("__assert_fail", "__assert", "__assert_rtn", "__assert_perror_fail")
def _assert_fail(low: CLowering, node: tree.Call) -> Scalar:
    text = _string(node.arguments[0]) if node.arguments else ""
    low.fail(Fault.ASSERT, f"assertion failed: {text}" if text else "assertion failed", node.span)
    return NOTHING


def strip_conversions(node: tree.Expression) -> tree.Expression:
    """The expression without conversions."""
    while isinstance(node, tree.Conversion):
        node = node.operand
    return node


def _string(node: tree.Expression) -> str:
    node = strip_conversions(node)
    return node.data[:-1].decode("latin-1") if isinstance(node, tree.StringLiteral) else ""


@library("assert", "__VERIFIER_assert")
def _assert(low: CLowering, node: tree.Call) -> Scalar:
    """An `assert` that is a function, where the program has no header for it."""
    true, false = low.label(node.span), low.label(node.span)
    branch_on(low, strip(node.arguments[0]), true, false)
    low.put(false, node.span)
    if low.reachable:
        low.fail(Fault.ASSERT, f"assertion failed: {node.arguments[0].text}", node.span)
    low.put(true, node.span)
    return NOTHING


@library("__VERIFIER_assume", "assume", "__CPROVER_assume")
def _assume(low: CLowering, node: tree.Call) -> Scalar:
    value = low.scalar(strip(node.arguments[0]))  # of a pointer it matters whether it is null
    if value.constant is not None:
        if value.constant == 0:
            low.stop(Kind.ASSUME, node.span, node.text)
        return NOTHING
    low.step(Kind.ASSUME, node.span, node.text, guard=boolean(value.expr))
    return NOTHING


@library("__VERIFIER_atomic_begin")
def _atomic_begin(low: CLowering, node: tree.Call) -> Scalar:
    if low.require_automaton().atomic_depth == 0:
        low.begin_atomic(node.span)
    return NOTHING


@library("__VERIFIER_atomic_end")
def _atomic_end(low: CLowering, node: tree.Call) -> Scalar:
    low.end_atomic(node.span)
    return NOTHING


_NONDET: dict[str, CType] = {
    "bool": IntegerType("_Bool", 8, False, True),
    "char": IntegerType("char", 8, True),
    "uchar": IntegerType("unsigned char", 8, False),
    "short": IntegerType("short", 16, True),
    "ushort": IntegerType("unsigned short", 16, False),
    "int": INT,
    "uint": IntegerType("unsigned int", 32, False),
    "unsigned": IntegerType("unsigned int", 32, False),
    "u8": IntegerType("unsigned char", 8, False),
    "u16": IntegerType("unsigned short", 16, False),
    "u32": IntegerType("unsigned int", 32, False),
}


def _choose(low: CLowering, node: tree.Call) -> Scalar:
    """Choose any value; a pointer is null or leads nowhere, so that to follow it fails, and to
    compare it with another one leaves the run undecided."""
    return choose_any(low, node.type, node.span, node.text)


for _name in (
    *_NONDET, "long", "ulong", "longlong", "ulonglong", "size_t", "loff_t", "pchar", "pointer",
    "float", "double", "pthread_t", "sector_t", "unsigned_int", "uint128", "int128", "u64", "s8",
    "s16", "s32", "s64",
):  # fmt: skip
    LIBRARY[f"__VERIFIER_nondet_{_name}"] = _choose
LIBRARY["__mazurka_any"] = _choose
LIBRARY["nondet_int"] = LIBRARY["nondet_uint"] = _choose
LIBRARY["nondet"] = LIBRARY["__VERIFIER_nondet"] = LIBRARY["nondet_bool"] = _choose


@library("rand", "random", "rand_r")
def _random(low: CLowering, node: tree.Call) -> Scalar:
    """Choose any number from 0 to `RAND_MAX`; `rand_r` changes the seed that it is given."""
    if node.arguments and (seed := target_of(low, node.arguments[0])) is not None:
        set_any(low, seed, node.span)
    cell = Const(low.take_temporary(Role.INT, node.span))
    chosen = (Assign(cell, Choice()),)
    low.step(Kind.CHOOSE, node.span, node.text, operations=chosen, choices=1 << 31)
    return Scalar(node.type, Load(cell))


@builtin("__builtin_expect")
def _expect(low: CLowering, node: tree.Builtin) -> Scalar:
    value = low.scalar(node.arguments[0])
    for each in node.arguments[1:]:
        low.effect(each)
    return value


@builtin("__builtin_unreachable")
def _unreachable(low: CLowering, node: tree.Builtin) -> Scalar:
    low.fail(Fault.EXCEPTION, f"`{node.text}` is reached, which has no meaning", node.span)
    return NOTHING


@builtin("__builtin_trap")
def _trap(low: CLowering, node: tree.Builtin) -> Scalar:
    """Ends the process, like `abort`."""
    low.stop(Kind.END, node.span, node.text)
    return NOTHING


@builtin("__builtin_constant_p")
def _constant_p(low: CLowering, node: tree.Builtin) -> Scalar:
    """Whether the argument is a literal; of others compilers know more or less."""
    inner = strip_conversions(node.arguments[0])
    literal = isinstance(inner, tree.IntegerConstant | tree.Real | tree.StringLiteral)
    return Scalar(INT, Const(int(literal)))
