"""Adds to a random program a thread that watches an invariant, as the front end makes it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TypeAlias

from mazurka.ir.expressions import Binary, Const, Expr, Load, negate
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.stateful.reference.full import StateSpace

MESSAGE = "the invariant is violated"
CANDIDATES = 12

_Pair: TypeAlias = tuple[int, int, int, int]
"""Two cells and a value for each."""


def watched(program: Program, condition: Expr) -> Program:
    """The program with an observer that looks once, at any moment, in one step."""
    counter, number = len(program.cells), len(program.threads)
    name = f"invariant {number}"
    check = Check(condition, Fault.ASSERT, MESSAGE)
    edge = Edge(FIRST_LOCATION, FINISHED, Kind.ATOMIC, Span(name, 1), None, (check,), atomic=True)
    thread = Thread(
        name, counter, FIRST_LOCATION, (Location(),) * (FIRST_LOCATION + 1), (edge,), observer=True
    )
    cell = Cell(f"pc{number}", 0, FIRST_LOCATION, FIRST_LOCATION, owner=number, role=Role.COUNTER)
    return replace(program, cells=(*program.cells, cell), threads=(*program.threads, thread))


def unequal_pair(
    program: Program, whole: StateSpace, rng: Random, *, holding: bool
) -> tuple[Expr, bool]:
    """A condition over two shared cells, `not (a == v and b == w)`, and whether it always holds.

    It is to hold if there is a pair of values that never occurs.  Else the pair is taken that
    occurs in the fewest states: then there are few moments at which an observer can see it.
    """
    shared = [a for a, cell in enumerate(program.cells) if a and cell.owner is None]
    states = list(whole.states)
    counted: dict[_Pair, int] = {}
    for _ in range(CANDIDATES):
        first, second = rng.choice(shared), rng.choice(shared)
        values = rng.choice(states)[first], rng.choice(states)[second]
        counted[first, second, *values] = sum(
            (state[first], state[second]) == values for state in states
        )
    rare = {pair: count for pair, count in counted.items() if count} or counted
    never = [pair for pair, count in counted.items() if not count]
    pair = never[0] if never and holding else min(rare, key=rare.__getitem__)
    one, other = (
        Binary("eq", Load(Const(cell)), Const(value))
        for cell, value in zip(pair[:2], pair[2:], strict=True)
    )
    return negate(Binary("and", one, other)), not counted[pair]
