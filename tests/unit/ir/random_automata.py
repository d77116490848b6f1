"""Small random programs: two threads, a third that the first may create, shared and local cells."""

from __future__ import annotations

import random

from mazurka.ir.expressions import (
    ONE,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
    negate,
    truth,
)
from mazurka.ir.program import (
    IDLE,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ir.values.intervals import LARGEST, SMALLEST

SHARED, DECLARED, POINTER, ARRAY = 4, 5, 6, 7
LOCALS = {0: (10, 11, 12), 1: (13, 14, 15), 2: (16, 17, 18)}
SIZE = 6


def conjunction(left: Expr, right: Expr) -> Expr:
    """`left and right` as 0 or 1; the right side is evaluated only where the left holds."""
    return Conditional(left, truth(right), ZERO)


def disjunction(left: Expr, right: Expr) -> Expr:
    """`left or right` as 0 or 1; the right side is evaluated only where the left fails."""
    return Conditional(left, ONE, truth(right))


class Converting(random.Random):
    """Makes programs whose numbers wrap around, as those of C do."""


def random_program(chance: random.Random) -> Program:
    cells = [Cell("null", 0, 0)]
    cells += [Cell(f"pc{t}", 0, 3 + SIZE, IDLE if t == 2 else 3, t, Role.COUNTER) for t in range(3)]
    cells.append(Cell("shared", 0, 0, chance.randint(-1, 2), inferred=True))
    cells.append(Cell("declared", -2, 4, 0))
    cells.append(Cell("pointer", 0, 18, chance.choice((0, SHARED, SHARED)), role=Role.POINTER))
    cells += [Cell(f"array{i}", 0, 0, i, inferred=True) for i in range(3)]
    for thread, places in LOCALS.items():
        for place in places:
            cells.append(
                Cell(f"local{place}", 0, 0, chance.choice((0, 0, 1)), thread, inferred=True)
            )
    threads = tuple(random_thread(chance, number) for number in range(3))
    return Program("random", tuple(cells), threads)


def random_thread(chance: random.Random, number: int) -> Thread:
    modes = [Mode.VISIBLE] * 4 + [
        chance.choice((Mode.VISIBLE, Mode.VISIBLE, Mode.ATOMIC, Mode.MERGED))
        for _ in range(SIZE - 1)
    ]
    edges: list[Edge] = []
    for source in range(3, 3 + SIZE):
        guard = random_condition(chance, number, 2) if chance.random() < 0.6 else None
        edges.append(random_edge(chance, number, source, guard, modes))
        if guard is not None and chance.random() < 0.93:
            edges.append(random_edge(chance, number, source, negate(guard), modes))
    resets = [(chance.choice(LOCALS[number]),) if chance.random() < 0.1 else () for _ in modes]
    locations = tuple(
        Location(mode, None, reset) for mode, reset in zip(modes, resets, strict=True)
    )
    return Thread(f"t{number}", 1 + number, 3, locations, tuple(edges), number != 2)


def random_edge(
    chance: random.Random, number: int, source: int, guard: Expr | None, modes: list[Mode]
) -> Edge:
    operations = [random_operation(chance, number) for _ in range(chance.randint(0, 3))]
    kind = chance.choice((Kind.LOCAL, Kind.ACCESS, Kind.ASSUME, Kind.UNTIL))
    # Merged locations form no cycle: a step through them must end.
    first = source + 1 if modes[source] is Mode.MERGED else 3
    target = chance.choice(
        (0, *range(first, 3 + SIZE), *range(first, 3 + SIZE), *range(source + 1, 3 + SIZE))
    )
    choices = chance.choice((1, 1, 1, 2)) if modes[source] is Mode.VISIBLE else 1
    span = Span("random.py", source)
    return Edge(source, target, kind, span, guard, tuple(operations), choices)


def random_operation(chance: random.Random, number: int) -> Operation:
    if chance.random() < 0.05:
        return Check(random_condition(chance, number, 1), Fault.ASSERT, "random")
    if number == 0 and chance.random() < 0.1:
        return Assign(Const(3), Const(chance.choice((3, 3, 4))))
    if number == 0 and chance.random() < 0.1:
        return Assign(Const(chance.choice(LOCALS[2])), random_value(chance, number, 1))
    if chance.random() < 0.1:
        targets = (chance.choice((0, SHARED)), SHARED, ARRAY, ARRAY + 1, *LOCALS[number][:1])
        return Assign(Const(POINTER), Const(chance.choice(targets)))
    value = random_value(chance, number, 2)
    if isinstance(chance, Converting) and chance.random() < 0.7:
        return Assign(random_address(chance, number), random_conversion(chance, value))
    if chance.random() < 0.8:
        value = Binary("mod", value, Const(chance.choice((2, 3, 5))))
    return Assign(random_address(chance, number), value)


def random_conversion(chance: random.Random, value: Expr) -> Expr:
    """A value of one of C's types, now and then far away from 0, so that it does wrap around."""
    operator = chance.choice(("add", "sub", "mul", "shl", "div"))
    far = Const(chance.choice((1, 2, 5, 63) if operator == "shl" else FAR))
    value = chance.choice((value, Binary(operator, value, far), Unary("neg", value)))
    if chance.random() < 0.3:
        value = Binary("add", value, Const(chance.choice(FAR)))
    converted: Expr = Convert(value, chance.choice((2, 8, 31, 32, 63, 64)), chance.random() < 0.5)
    if chance.random() < 0.2:
        converted = Convert(converted, chance.choice((8, 32, 64)), chance.random() < 0.5)
    if chance.random() < 0.2:
        operator = chance.choice(("ult", "ule", "udiv", "urem", "lshr"))
        return Binary(operator, converted, Const(chance.choice((1, 3, 63))))
    return converted


FAR = (1, 1, 3, 127, 2**31, 2**32 - 1, 2**62, LARGEST, SMALLEST, -1)


def random_address(chance: random.Random, number: int) -> Expr:
    if chance.random() < 0.7:
        return Const(chance.choice((*LOCALS[number], *LOCALS[number], SHARED, DECLARED)))
    if chance.random() < 0.2:
        return Load(Const(POINTER))
    index = random_value(chance, number, 1)
    if chance.random() < 0.9:
        index = Binary("mod", index, Const(3))
    return Element(Const(ARRAY), index, 3, 1)


def random_value(chance: random.Random, number: int, depth: int) -> Expr:
    if depth == 0 or chance.random() < 0.2:
        if chance.random() < 0.3:
            return chance.choice((Const(chance.randint(-2, 3)), Choice()))
        return Load(random_address(chance, number))
    left, right = random_value(chance, number, depth - 1), random_value(chance, number, depth - 1)
    match chance.randrange(6):
        case 0:
            return Binary(chance.choice(("mod", "floordiv")), left, Const(chance.randint(2, 5)))
        case 1:
            return Conditional(random_condition(chance, number, 1), left, right)
        case 2:
            return Binary("add", left, Const(chance.choice((-1, 1, 2))))
        case 3:
            return Binary("mod", Binary("add", left, right), Const(chance.randint(2, 7)))
        case 4:
            operator = chance.choice(("min", "max", "xor", "mul", chance.choice(("rem", "min"))))
            return Binary("mod", Binary(operator, left, right), Const(chance.choice((3, 8))))
        case _:
            return left


def random_condition(chance: random.Random, number: int, depth: int) -> Expr:
    if depth > 0 and chance.random() < 0.4:
        join = chance.choice((conjunction, disjunction))
        first = random_condition(chance, number, depth - 1)
        return join(first, random_condition(chance, number, depth - 1))
    operators = ("eq", "ne", "lt", "le", "gt", "ge")
    if isinstance(chance, Converting):
        operators = (*operators, "ult", "ule")
    operator = chance.choice(operators)
    left = Load(Const(chance.choice((*LOCALS[number], SHARED, DECLARED))))
    shifted = chance.choice(
        (left, left, Binary("add", left, ONE_MORE), Binary("sub", left, ONE_MORE))
    )
    right: Expr = Const(chance.randint(-1, 5))
    if chance.random() < 0.25:
        right = Load(Const(chance.choice(LOCALS[number])))
    if isinstance(chance, Converting) and chance.random() < 0.3:
        shifted = Convert(shifted, chance.choice((2, 8, 64)), chance.random() < 0.5)
    if chance.random() < 0.1:
        return negate(left)
    return Binary(operator, *((shifted, right) if chance.random() < 0.7 else (right, shifted)))


ONE_MORE = Const(1)


def without_limits(program: Program) -> Program:
    """The program as the interpreter must run it before ranges are known."""
    cells = tuple(
        Cell(c.name, SMALLEST, LARGEST, c.initial, c.owner, c.role) if c.inferred else c
        for c in program.cells
    )
    return Program(program.name, cells, program.threads)
