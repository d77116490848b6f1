"""Names, numbers and arithmetic.

Operands are evaluated from left to right.  Expressions over constants and the thread's scalar
variables take no step: they become one IR expression.
"""

from __future__ import annotations

import ast

from mazurka.frontend.kit.arithmetic import (
    binary,
    boolean,
    fits,
    unary,
)
from mazurka.frontend.kit.shapes import Reference
from mazurka.frontend.python.lowering import LocalVariable, Lowering, expression
from mazurka.frontend.python.source import advise_on_name, find_builtin
from mazurka.frontend.python.values import (
    Closure,
    Function,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    Text,
    ThreadHandle,
    Value,
    explain_no_number,
    kind_of,
)
from mazurka.ir.expressions import Const, Expr

MOST_ITEMS = 10_000

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}


@expression(ast.Constant)
def _constant(low: Lowering, node: ast.Constant) -> Value:
    match node.value:
        case bool(value):
            return Number(Const(int(value)), boolean=True)
        case int(value):
            return Number(Const(value))
        case None:
            return Nothing()
        case str(text):
            return Text(text)
        case float():
            raise low.refuse(node, f"models have integers only; `{node.value}` is a float")
        case _:
            raise low.refuse(node, f"models have integers only, not `{ast.unparse(node)}`")


@expression(ast.Name)
def _name(low: Lowering, node: ast.Name) -> Value:
    found = look_up(low, node.id, node)
    return found.fetch() if isinstance(found, LocalVariable) else found


def look_up(low: Lowering, name: str, node: ast.AST) -> LocalVariable | Value:
    """Find what a name stands for here."""
    if name in low.overlay:
        return low.overlay[name]
    if low.frames:
        frame = low.frame
        if name in frame.variables:
            if frame.facts.is_local(name) and not low.is_bound(name):
                raise low.refuse(
                    node,
                    f"`{name}` may have no value here; assign it on every path that leads here",
                )
            return frame.variables[name]
        if frame.facts.is_local(name) and name not in low.program.globals:
            raise low.refuse(node, f"`{name}` has no value yet here; assign it first")
        if frame.facts.is_local(name) and not frame.is_module:
            raise low.refuse(
                node,
                f"`{name}` is local to `{frame.name}`, which assigns it; add `global {name}`, or"
                " assign it before it is used",
            )
    found = low.program.globals.get(name) or find_builtin(name)
    if found is None:
        candidates = [*low.program.globals, *(low.frame.variables if low.frames else ())]
        advice = advise_on_name(name, candidates, low.program.known)
        raise low.refuse(node, f"the name `{name}` is not defined{advice}")
    if isinstance(found, Function | RecordClass) and not low.program.making:
        _check_order(low, found, node)
    return found


def _check_order(low: Lowering, found: Function | RecordClass, node: ast.AST) -> None:
    """Refuse module-level code that uses what is defined below it."""
    line = found.definition.lineno
    at_module_level = not low.frames or low.frame.is_module
    if at_module_level and getattr(node, "lineno", line) < line:
        raise low.refuse(node, f"`{found.name}` is defined later, at line {line}")


@expression(ast.BinOp)
def _binary(low: Lowering, node: ast.BinOp) -> Value:
    left = low.value(node.left)
    if isinstance(left, Sequence):
        return _repeat(low, node, left)
    right = low.value(node.right)
    return Number(
        arithmetic(
            low, node.op, as_number(low, left, node.left), as_number(low, right, node.right), node
        )
    )


def arithmetic(low: Lowering, operator: ast.operator, x: Expr, y: Expr, node: ast.AST) -> Expr:
    """Apply one of Python's binary operators to integers."""
    if isinstance(operator, ast.Div):
        raise low.refuse(node, "`/` gives a float; use `//`")
    if isinstance(operator, ast.Pow):
        return _power(low, x, y, node)
    if type(operator) not in _BINARY:
        raise low.refuse(node, f"the operator in `{ast.unparse(node)}` is not supported")
    if isinstance(operator, ast.LShift) and isinstance(y, Const) and y.value > 63:
        raise low.refuse(node, f"`{ast.unparse(node)}` does not fit in 64 bits")
    if isinstance(operator, ast.RShift):
        y = binary("min", y, Const(63))  # further than that, nothing changes
    return binary(_BINARY[type(operator)], x, y)


def _power(low: Lowering, x: Expr, y: Expr, node: ast.AST) -> Expr:
    if not (isinstance(x, Const) and isinstance(y, Const)):
        raise low.refuse(node, "`**` needs constants on both sides; multiply instead")
    if y.value < 0 or (abs(x.value) > 1 and y.value > 63) or not fits(x.value**y.value):
        raise low.refuse(node, f"`{ast.unparse(node)}` is no 64-bit integer")
    return Const(x.value**y.value)


def _repeat(low: Lowering, node: ast.BinOp, left: Sequence) -> Value:
    """Repeat a list (`[0] * 3`), or join two (`first + second`)."""
    right = low.value(node.right)
    if isinstance(node.op, ast.Add) and isinstance(right, Sequence):
        both_lists = left.growing and right.growing
        return Sequence([*left.items, *right.items], growing=both_lists)
    if isinstance(node.op, ast.Mult) and isinstance(right, Number) and right.constant is not None:
        if len(left.items) * right.constant > MOST_ITEMS:
            raise low.refuse(node, f"a list of more than {MOST_ITEMS:,} items is too long")
        if all(isinstance(item, Number) for item in left.items):
            return Sequence(left.items * right.constant, growing=left.growing)
        if any(isinstance(item, Nothing) for item in left.items):
            raise low.refuse(
                node,
                "a list holds numbers or objects, not None; use a number that stands for it, such"
                " as -1: `[-1] * n`",
            )
        raise low.refuse(
            node,
            "`[object] * n` would hold the same object n times; use `Array(Type, n)` or"
            " `[Type() for _ in range(n)]`",
        )
    if isinstance(node.op, ast.Mult) and isinstance(right, Number):
        length, made = ast.unparse(node.right), ast.unparse(node)
        raise low.refuse(
            node, f"the length of `{made}` must be a constant, which `{length}` is not"
        )
    raise low.refuse(node, f"`{ast.unparse(node)}` is not supported for lists")


def as_number(low: Lowering, value: Value, node: ast.AST) -> Expr:
    if isinstance(value, Number):
        return value.expr
    raise low.refuse(node, explain_no_number(value, ast.unparse(node)))


def truth_of(low: Lowering, value: Value, node: ast.AST) -> Expr:
    """Convert a value to its truth, as 0 or 1."""
    match value:
        case Number(expr):
            return boolean(expr)
        case Nothing():
            return Const(0)
        case Sequence(items):
            return Const(int(bool(items)))
        case ThreadHandle(expr):
            return binary("ne", expr, Const(0))
        case Reference():
            return Const(1)
        case _:
            raise low.refuse(node, f"`{ast.unparse(node)}` is {kind_of(value)}, not a condition")


@expression(ast.UnaryOp)
def _unary(low: Lowering, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return Number(unary("not", truth_of(low, low.value(node.operand), node.operand)), True)
    operand = low.number_of(node.operand)
    match node.op:
        case ast.USub():
            return Number(unary("neg", operand))
        case ast.Invert():
            return Number(unary("invert", operand))
        case _:
            return Number(operand)


@expression(ast.Lambda)
def _lambda(low: Lowering, node: ast.Lambda) -> Value:
    return Closure(node)
