"""How often a loop runs at most, where that can be seen from its head.

A place inside such a loop that creates a thread or an object needs no more of them than that.
"""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.arithmetic import compute, convert_number
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.survey.exposure import find_roots
from mazurka.frontend.c.types import IntegerType, bare
from mazurka.ir.expressions import Const

MOST = 256
"""Loops that run more often count as unbounded."""


def count_trips(low: CLowering, node: tree.LoopStatement) -> int | None:
    """An upper bound for how often the body runs each time the loop is entered."""
    if node.test_last or node.test is None or node.step is None or node.initial is None:
        return None
    counter, first = _start(low, node.initial)
    if counter is None or first is None:
        return None
    match node.test:
        case tree.BinaryOperation(operator=operator, left=left, right=right):
            limit = static_value(low, right)
            if limit is None or _variable(left) is not counter:
                return None
        case _:
            return None
    step = _step(low, node.step, counter)
    if step is None or _changes(node.body, counter):
        return None
    match operator:
        case "<" if step > 0:
            trips = -(-(limit - first) // step)
        case "<=" if step > 0:
            trips = (limit - first) // step + 1
        case ">" if step < 0:
            trips = -(-(first - limit) // -step)
        case ">=" if step < 0:
            trips = (first - limit) // -step + 1
        case _:
            return None
    return max(trips, 0) if trips <= MOST else None


def _start(low: CLowering, node: tree.Statement) -> tuple[tree.Variable | None, int | None]:
    """The variable that counts, and its first value."""
    match node:
        case tree.Declare(variables=(variable,)) if variable.initial is not None:
            return _local(low, variable), static_value(low, variable.initial)
        case tree.Evaluate(
            expression=tree.Assignment(
                operator="", target=tree.Name(variable=variable), value=value
            )
        ):
            return _local(low, variable), static_value(low, value)
        case _:
            return None, None


def _local(low: CLowering, variable: tree.Variable) -> tree.Variable | None:
    """The variable, if nothing but the text of its function can change it."""
    facts = low.survey.facts(low.frame.function)
    signed = isinstance(bare(variable.type), IntegerType)
    return variable if variable.local and variable not in facts.exposed and signed else None


def _variable(node: tree.Expression) -> tree.Variable | None:
    while isinstance(node, tree.Conversion):
        node = node.operand
    return node.variable if isinstance(node, tree.Name) else None


def _step(low: CLowering, node: tree.Expression, counter: tree.Variable) -> int | None:
    match node:
        case tree.Increment(step=step, target=tree.Name(variable=variable)):
            return step if variable is counter else None
        case tree.Assignment(
            operator="+" | "-" as operator, target=tree.Name(variable=variable), value=value
        ) if variable is counter:
            amount = static_value(low, value)
            return None if amount is None else amount if operator == "+" else -amount
        case _:
            return None


def _changes(body: tree.Statement, counter: tree.Variable) -> bool:
    for node in walk(body):
        match node:
            case tree.Assignment(target=target) | tree.Increment(target=target):
                if counter in find_roots(target):
                    return True
            case tree.AddressOf(operand=operand):
                if counter in find_roots(operand):
                    return True
            case tree.Labelled() | tree.CaseLabel():
                return True  # jumps may lead into the loop
            case _:
                pass
    return False


def static_value(low: CLowering, node: tree.Expression) -> int | None:
    """The value of an expression that is known without running anything."""
    match node:
        case tree.IntegerConstant(value=value):
            return value
        case tree.Name(variable=variable):
            known = low.known_value(variable)
            return None if known is None else known.constant
        case tree.Conversion(operand=operand, type=IntegerType() as type_):
            inner = static_value(low, operand)
            if inner is None:
                return None
            converted = convert_number(Const(inner), bare(operand.type), type_)
            return converted.value if isinstance(converted, Const) else None
        case tree.BinaryOperation(operator=operator, left=left, right=right):
            first, second = static_value(low, left), static_value(low, right)
            if first is None or second is None or not isinstance(bare(left.type), IntegerType):
                return None
            result = compute(operator, Const(first), Const(second), left.type)
            return result.value if isinstance(result, Const) else None
        case _:
            return None
