"""Compare the analysis of ranges with one that remembers nothing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from tests.soundness.random_programs import random_program

from mazurka.ir.expressions import Binary, Const, Load, negate
from mazurka.ir.passes.ranges import NARROWING_ROUNDS
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Assign,
    Cell,
    Edge,
    Kind,
    Location,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ir.values.edge_results import EdgeResult
from mazurka.ir.values.evaluation import ValueSet
from mazurka.ir.values.fixpoint import Analysis


def analyse(program: Program) -> tuple[tuple[ValueSet, ...], list[dict[int, object]]]:
    """What the analysis finds: the values of all cells, and what is known at each location."""
    analysis = Analysis(program, wraps=True)
    analysis.ascend()
    for _ in range(NARROWING_ROUNDS):
        if not analysis.overshot or not analysis.narrow():
            break
    return analysis.all_values(), [dict(facts.known) for facts in analysis.threads]


def make_counter() -> Program:
    """`while x < 1000: x += 1`, whose range is widened at first, and narrowed then."""
    x, here, inside = Load(Const(2)), FIRST_LOCATION, FIRST_LOCATION + 1
    span, few = Span("counter", 1), Binary("lt", Load(Const(2)), Const(1000))
    more = Assign(Const(2), Binary("add", x, Const(1)))
    edges = (
        Edge(here, inside, Kind.ACCESS, span, guard=few),
        Edge(inside, here, Kind.ACCESS, span, operations=(more,)),
        Edge(here, FINISHED, Kind.ACCESS, span, guard=negate(few)),
    )
    cells = (
        Cell("null", 0, 0),
        Cell("counter", 0, 9, FIRST_LOCATION, owner=0, role=Role.COUNTER),
        Cell("x", 0, 0, inferred=True),
    )
    thread = Thread("f", 1, FIRST_LOCATION, (Location(),) * (FIRST_LOCATION + 2), edges)
    return Program("counter", cells, (thread,))


def is_different(program: Program) -> bool:
    """Whether remembering makes a difference."""
    found = analyse(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EdgeResult, "fits", lambda *given: False)
        return analyse(program) != found


def find_programs(count: int) -> Iterator[Program]:
    """A counter, and so many random programs."""
    yield make_counter()
    for seed in range(count):
        yield random_program(Random(seed))
