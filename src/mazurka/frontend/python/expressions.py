"""Names, numbers, arithmetic, and conditions: comparisons, `and`, `or`, branches.

Operands are evaluated from left to right.  Expressions over constants and the thread's scalar
variables take no step: they become one IR expression.  What Python evaluates lazily becomes control
flow where evaluating it takes steps of its own (shared reads, calls); otherwise it is one IR
expression, whose `Conditional` is lazy too.
"""

from __future__ import annotations

import ast

from mazurka.frontend.kit.arithmetic import binary, boolean, both, conditional, fits, unary
from mazurka.frontend.kit.program import Label
from mazurka.frontend.kit.shapes import Blueprint, RecordShape, Reference
from mazurka.frontend.python.lowering import LocalParts, LocalVariable, Lowering, expression
from mazurka.frontend.python.source import describe_unknown_name
from mazurka.frontend.python.survey import is_frozen
from mazurka.frontend.python.values.comparisons import compare
from mazurka.frontend.python.values.kinds import (
    Closure,
    Function,
    Imported,
    Interval,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    Text,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.owned import (
    is_record_value,
    is_tuple_value,
    join_parts,
    read_parts,
)
from mazurka.ir.expressions import Const, Expr, Load
from mazurka.ir.program import Role

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
    return found.fetch() if isinstance(found, LocalVariable | LocalParts) else found


def look_up(low: Lowering, name: str, node: ast.AST) -> LocalVariable | LocalParts | Value:
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
    found, builtin = low.program.globals.get(name), f"builtins.{name}"
    if found is None and name in low.program.later:
        line = low.program.later[name]
        raise low.refuse(node, f"`{name}` is defined later, at line {line}")
    if found is None and builtin in low.program.known:
        return Imported(builtin)
    if found is None:
        line = low.program.assigned.get(name, 0)
        if line > getattr(node, "lineno", line):
            raise low.refuse(node, f"`{name}` is defined later, at line {line}")
        candidates = [*low.program.globals, *(low.frame.variables if low.frames else ())]
        raise low.refuse(node, describe_unknown_name(name, candidates, low.program.known))
    if isinstance(found, Function | RecordClass):
        _check_order(low, found, node)
    return found


def _check_order(low: Lowering, found: Function | RecordClass, node: ast.AST) -> None:
    """Refuse a statement of the module that uses, itself or in a call, what comes below it."""
    line = found.definition.lineno
    if low.moment and low.moment < line:
        raise low.refuse(node, f"`{found.definition.name}` is defined later, at line {line}")


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
        both_tuples = left.is_tuple and right.is_tuple
        items = [*left.items, *right.items]
        return Sequence(items, growing=both_lists, is_tuple=both_tuples)
    if isinstance(node.op, ast.Mult) and isinstance(right, Number) and right.constant is not None:
        if len(left.items) * right.constant > MOST_ITEMS:
            raise low.refuse(node, f"a list of more than {MOST_ITEMS:,} items is too long")
        if all(isinstance(item, Number) for item in left.items):
            items = left.items * right.constant
            return Sequence(items, growing=left.growing, is_tuple=left.is_tuple)
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
    raise low.refuse_no_number(node, value)


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


_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


@expression(ast.Compare)
def _compare(low: Lowering, node: ast.Compare) -> Value:
    left = low.value(node.left)
    if len(node.ops) == 1:
        right = low.value(node.comparators[0])
        return Number(comparison(low, node, 0, left, right), boolean=True)
    if low.direct is not None or is_simple(low, node):
        return _lazy_chain(low, node, left)
    return _stepwise_chain(low, node, left)


def _lazy_chain(low: Lowering, node: ast.Compare, left: Value) -> Value:
    tests = []
    for position, other in enumerate(node.comparators):
        right = low.value(other)
        tests.append(comparison(low, node, position, left, right))
        left = right
    result = tests[-1]
    for test in reversed(tests[:-1]):
        result = both(test, result)
    return Number(result, boolean=True)


def _stepwise_chain(low: Lowering, node: ast.Compare, left: Value) -> Value:
    """Compare `a < b < c` where c takes steps: it is evaluated only where a < b."""
    automaton = low.require_automaton()
    result, end = low.take_temporary(Role.BOOL, low.span(node)), automaton.new_label(low.span(node))
    for position, other in enumerate(node.comparators):
        right = low.value(other)
        low.set_cell(result, comparison(low, node, position, left, right), low.span(node))
        if position < len(node.ops) - 1:
            follow = automaton.new_label(low.span(node))
            low.branch_at(node, Load(Const(result)), follow, end)
            automaton.place(follow, low.span(node))
        left = right
    automaton.place(end, low.span(node))
    return Number(Load(Const(result)), boolean=True)


def comparison(low: Lowering, node: ast.Compare, position: int, x: Value, y: Value) -> Expr:
    """Compare two values that are neighbours in a chain of comparisons."""
    operator = node.ops[position]
    left, right = (node.left, *node.comparators)[position : position + 2]
    if isinstance(operator, ast.In | ast.NotIn):
        return _membership(low, operator, x, y, left, right)
    if isinstance(operator, ast.Is | ast.IsNot):
        same = _identity(low, x, y, node)
        return same if isinstance(operator, ast.Is) else unary("not", same)
    return compare(low, _COMPARE[type(operator)], x, y, (left, right))


def _identity(low: Lowering, x: Value, y: Value, node: ast.AST) -> Expr:
    match x, y:
        case Nothing(), Nothing():
            return Const(1)
        case (ThreadHandle(expr), Nothing()) | (Nothing(), ThreadHandle(expr)):
            return binary("eq", expr, Const(0))
        case (Nothing(), _) | (_, Nothing()):
            return Const(0)
        case Reference(shape, first), Reference(_, second):
            if isinstance(shape, RecordShape) and is_frozen(low.program.survey.classes[shape.name]):
                raise low.refuse(
                    node, f"a `{shape.name}` is a value in models; compare it with `==`"
                )
            return binary("eq", first, second)
        case ThreadHandle(first), ThreadHandle(second):
            return binary("eq", first, second)
        case Number(first, True), Number(second, True):
            return binary("eq", first, second)
        case _:
            raise low.refuse(node, f"`{ast.unparse(node)}` compares identity; use `==` for numbers")


def _membership(
    low: Lowering, operator: ast.cmpop, x: Value, y: Value, left: ast.expr, right: ast.expr
) -> Expr:
    number = as_number(low, x, left)
    match y:
        case Sequence(items):
            found: Expr = Const(0)
            for item in reversed(items):
                equal = binary("eq", number, as_number(low, item, right))
                found = conditional(equal, Const(1), found)
        case Interval(start, stop, 1):
            found = both(binary("le", start, number), binary("lt", number, stop))
        case _:
            raise low.refuse(
                left,
                "`in` needs a list or tuple written out, or a `range` with step 1; for an Array"
                " write `any(item == x for item in array)`",
            )
    return found if isinstance(operator, ast.In) else unary("not", found)


@expression(ast.BoolOp)
def _boolop(low: Lowering, node: ast.BoolOp) -> Value:
    """Evaluate `and` and `or`, which give one of their operands, as in Python."""
    conjunction = isinstance(node.op, ast.And)
    if low.direct is not None or is_simple(low, node):
        values = [low.value(operand) for operand in node.values]
        result = as_number(low, values[-1], node.values[-1])
        for value, operand in zip(values[-2::-1], node.values[-2::-1], strict=True):
            test = as_number(low, value, operand)
            result = conditional(test, result, test) if conjunction else _or(test, result)
        return Number(result, all(isinstance(v, Number) and v.boolean for v in values))
    return _stepwise_boolop(low, node, conjunction)


def _or(test: Expr, result: Expr) -> Expr:
    return conditional(test, test, result)


def _stepwise_boolop(low: Lowering, node: ast.BoolOp, conjunction: bool) -> Value:
    automaton = low.require_automaton()
    span, truths = low.span(node), True
    result, end = low.take_temporary(Role.INT, low.span(node)), automaton.new_label(low.span(node))
    for position, operand in enumerate(node.values):
        value = low.value(operand)
        truths = truths and isinstance(value, Number) and value.boolean
        low.set_cell(result, as_number(low, value, operand), low.span(operand))
        if position < len(node.values) - 1:
            follow = automaton.new_label(span)
            ways = (follow, end) if conjunction else (end, follow)
            low.branch_at(operand, boolean(Load(Const(result))), *ways)
            automaton.place(follow, span)
    automaton.place(end, span)
    return Number(Load(Const(result)), truths)


@expression(ast.IfExp)
def _conditional(low: Lowering, node: ast.IfExp) -> Value:
    if low.direct is not None or is_simple(low, node):
        test = low.number_of(node.test)
        if isinstance(test, Const):
            return low.value(node.body if test.value else node.orelse)
        then, otherwise = low.value(node.body), low.value(node.orelse)
        return _merge(low, node, test, then, otherwise)
    return _stepwise_conditional(low, node)


def _merge(low: Lowering, node: ast.IfExp, test: Expr, then: Value, otherwise: Value) -> Value:
    match then, otherwise:
        case Number(x, first), Number(y, second):
            return Number(conditional(test, x, y), first and second)
        case _:
            raise low.refuse(
                node, f"`{ast.unparse(node)}` must be a number on both sides; use if/else"
            )


def _stepwise_conditional(low: Lowering, node: ast.IfExp) -> Value:
    automaton = low.require_automaton()
    span = low.span(node)
    true, false, end = (automaton.new_label(span) for _ in range(3))
    branch_on(low, node.test, true, false)
    results: list[Value] = []
    cells: list[int] = []
    for label, operand in ((true, node.body), (false, node.orelse)):
        automaton.place(label, span)
        if not low.reachable:
            continue
        value = low.value(operand)
        results.append(value)
        contents = _contents(low, value, operand)
        if not cells:
            cells = [low.take_temporary(role, low.span(node)) for _, role in contents]
        if len(cells) != len(contents):
            raise low.refuse(node, f"both sides of `{ast.unparse(node)}` must be of one type")
        for cell, (content, _) in zip(cells, contents, strict=True):
            low.set_cell(cell, content, low.span(operand))
        automaton.jump(end, span)
    automaton.place(end, span)
    return _combine_sides(low, node, results, [Load(Const(cell)) for cell in cells])


def _contents(low: Lowering, value: Value, node: ast.AST) -> list[tuple[Expr, Role]]:
    if is_record_value(low, value) or is_tuple_value(value):
        return [(part.expr, Role.INT) for part in read_parts(low, value, node)]
    match value:
        case Number(expr):
            return [(expr, Role.INT)]
        case Reference(_, address):
            return [(address, Role.POINTER)]
        case ThreadHandle(expr):
            return [(expr, Role.HANDLE)]
        case _:
            raise low.refuse(node, f"`{ast.unparse(node)}` is {kind_of(value)}; use if/else")


def _combine_sides(
    low: Lowering, node: ast.IfExp, results: list[Value], contents: list[Expr]
) -> Value:
    """Combine the values that both sides left in the same cells."""
    first, content = results[0], contents[0]
    made = [value for value in results if isinstance(value, Blueprint | Reference)]
    records = [value.shape for value in made if is_record_value(low, value)]
    same = len(records) == len(results) and all(shape == records[0] for shape in records)
    if same or all(map(is_tuple_value, results)):
        return join_parts(first, [Number(part) for part in contents])
    if all(isinstance(value, Number) for value in results):
        return Number(content, all(isinstance(v, Number) and v.boolean for v in results))
    if all(isinstance(value, ThreadHandle) for value in results):
        return ThreadHandle(content)
    if isinstance(first, Reference) and all(
        isinstance(value, Reference) and value.shape == first.shape for value in results
    ):
        shared = any(isinstance(value, Reference) and value.shared for value in results)
        return Reference(first.shape, content, shared, ast.unparse(node))
    raise low.refuse(node, f"both sides of `{ast.unparse(node)}` must be of one type")


def branch_on(low: Lowering, node: ast.expr, true: Label, false: Label) -> None:
    """Evaluate a condition and go to one of two labels, lazily as Python does."""
    automaton = low.require_automaton()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        branch_on(low, node.operand, false, true)
    elif isinstance(node, ast.BoolOp) and not is_simple(low, node):
        for operand in node.values[:-1]:
            follow = automaton.new_label(low.span(operand))
            if isinstance(node.op, ast.And):
                branch_on(low, operand, follow, false)
            else:
                branch_on(low, operand, true, follow)
            automaton.place(follow, low.span(operand))
            if not low.reachable:
                return
        branch_on(low, node.values[-1], true, false)
    else:
        low.branch_at(node, truth_of(low, low.value(node), node), true, false)


def is_simple(low: Lowering, node: ast.AST) -> bool:
    """Whether evaluating the expression takes no step of its own."""
    match node:
        case ast.Constant(value):
            return isinstance(value, int)
        case ast.Name(name):
            known: LocalVariable | LocalParts | Value | None = low.overlay.get(name)
            if known is None and low.frames:
                known = low.frame.variables.get(name)
            if known is None:
                known = low.program.globals.get(name)
            return isinstance(known, Number) or (
                isinstance(known, LocalVariable) and known.role in (Role.INT, Role.BOOL)
            )
        case ast.BinOp(left, _, right):
            return is_simple(low, left) and is_simple(low, right)
        case ast.UnaryOp(_, operand):
            return is_simple(low, operand)
        case ast.BoolOp(_, values):
            return all(is_simple(low, value) for value in values)
        case ast.Compare(left, ops, comparators):
            plain = not any(isinstance(op, ast.Is | ast.IsNot) for op in ops)
            return plain and all(is_simple(low, value) for value in (left, *comparators))
        case ast.IfExp(test, body, orelse):
            return all(is_simple(low, part) for part in (test, body, orelse))
        case _:
            return False
