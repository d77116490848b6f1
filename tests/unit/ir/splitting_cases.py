"""Random trees of comparisons of one expression, judged value by value."""

from __future__ import annotations

from itertools import product
from random import Random

from mazurka.ir.arithmetic import BINARY
from mazurka.ir.expressions import (
    ONE,
    ZERO,
    Binary,
    Conditional,
    Const,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.values.evaluation import ValueSet, evaluate
from mazurka.ir.values.facts import Facts

POINTER, FLAG, OTHER = 1, 2, 3
DOMAINS = {POINTER: (0, 4, 5, 7, 9, 12), FLAG: (0, 1), OTHER: (3, 8)}
MEMORY = dict.fromkeys(range(4, 16), 0) | {5: 1, 7: 2, 9: 1, 12: 3}


def random_condition(random: Random, subject: Expr, depth: int) -> Expr:
    """A condition of the form that asks where a pointer leads."""
    if depth == 0:
        return random.choice([ZERO, ONE, Load(Const(FLAG)), compare(random, subject)])
    test = compare(random, subject)
    if random.random() < 0.3:
        test = Conditional(test, compare(random, subject), ZERO)
    if random.random() < 0.2:
        test = Unary("not", test)
    then, otherwise = (random_condition(random, subject, depth - 1) for _ in range(2))
    return Conditional(test, then, otherwise)


def compare(random: Random, subject: Expr) -> Expr:
    operator = random.choice(["eq", "ne", "lt", "le", "gt", "ge"])
    right = Const(random.choice([0, 4, 5, 6, 8, 9, 10, 12]))
    if random.random() < 0.1:
        return Binary(operator, Load(Const(OTHER)), right)
    return Binary(operator, subject, right)


def random_value(random: Random, subject: Expr, depth: int) -> Expr:
    """A number that depends on where a pointer leads."""
    if depth == 0:
        offset = Binary("sub", subject, Const(4))
        cell = Load(Element(Const(4), offset, 12, 1))
        return random.choice([subject, offset, cell, Const(random.randrange(9))])
    then, otherwise = (random_value(random, subject, depth - 1) for _ in range(2))
    return Conditional(random_condition(random, subject, 1), then, otherwise)


def lookup(address: int) -> ValueSet:
    if address in DOMAINS:
        return ValueSet.of(*DOMAINS[address])
    return ValueSet.of(MEMORY[address]) if address in MEMORY else ValueSet.of()


def compute(expr: Expr, cells: dict[int, int]) -> int | None:
    """The value of an expression in one state; None for a fault."""
    match expr:
        case Const(value):
            return value
        case Load(address):
            place = compute(address, cells)
            return None if place is None else cells.get(place)
        case Unary("not", operand):
            inner = compute(operand, cells)
            return None if inner is None else int(inner == 0)
        case Conditional(test, then, otherwise):
            outcome = compute(test, cells)
            return None if outcome is None else compute(then if outcome else otherwise, cells)
        case Binary(operator, left, right):
            first, second = compute(left, cells), compute(right, cells)
            if first is None or second is None:
                return None
            return int(BINARY[operator](first, second))
        case Element(base, index, length, stride):
            start, place = compute(base, cells), compute(index, cells)
            if start is None or place is None or not 0 <= place < length:
                return None
            return start + place * stride
    raise AssertionError(expr)


def states() -> list[dict[int, int]]:
    names = list(DOMAINS)
    return [dict(zip(names, each, strict=True)) | MEMORY for each in product(*DOMAINS.values())]


def find_mistake(seed: int) -> str | None:
    """What the analysis leaves out of one random condition and one random value."""
    random = Random(seed)
    subject: Expr = Load(Const(POINTER))
    if random.random() < 0.3:
        subject = Binary("add", subject, Const(1))
    condition = random_condition(random, subject, 3)
    for outcome in (True, False):
        facts = Facts({}, lookup)
        possible = facts.assume(condition, outcome)
        for state in states():
            found = compute(condition, state)
            if found is None or bool(found) != outcome:
                continue
            if not possible:
                return f"seed {seed}: the outcome {outcome} is possible"
            for cell in DOMAINS:
                if not facts.lookup(cell).contains(state[cell]):
                    return f"seed {seed}: cell {cell} can be {state[cell]}"
    value = random_value(random, subject, 2)
    values = evaluate(value, lookup)
    for state in states():
        result = compute(value, state)
        if result is not None and not values.contains(result):
            return f"seed {seed}: {result} is missing"
    return None
