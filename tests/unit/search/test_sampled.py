"""Choices among 2**32 and 2**64 numbers, and choices in loops of atomic sections."""

from __future__ import annotations

import pytest
from tests.limits import ENOUGH
from tests.unit.ir.programs import Builder, equals, load, put

from mazurka.ir.expressions import Binary, Choice, Const, Convert, negate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.samples import take_samples
from mazurka.ir.program import FINISHED, Cell, Check, Fault, Kind, Mode, Program
from mazurka.report.trace import confirm
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy

ASKED = SearchOptions(properties=frozenset({"assert", "deadlock"}), limit_seconds=ENOUGH)
RARE = 12_345_678_901_234_567_890
"""An unsigned number of 64 bits, beyond those with a sign."""


def rare_number(width: int, rare: int, *, spoilt: bool = False) -> Program:
    """A thread chooses a number of so many bits, another fails if it is the rare one."""
    builder = Builder()
    x = builder.add(Cell("x", 0, 0, inferred=True, unsigned=width == 64))
    first = builder.thread()
    own = builder.add(Cell("own", 0, 0, owner=0, inferred=True))
    start, copying = first.at(), first.at()
    chosen = put(own, Convert(Choice(), width, False))
    first.edge(start, copying, chosen, kind=Kind.CHOOSE, choices=2**width)
    value = Convert(Binary("add", load(own), Const(1)), width, False) if spoilt else load(own)
    first.edge(copying, FINISHED, put(x, value))
    second = builder.thread()
    here = second.at()
    unlike = Binary("ne", load(x), Const(rare - (2**64 if rare >= 2**63 else 0)))
    second.edge(here, FINISHED, Check(unlike, Fault.ASSERT, "rare"), kind=Kind.ASSERT)
    return prepare(builder.program())


@pytest.mark.parametrize("strategy", ["full", "cpc", "stubborn", "cartesian", "dpor", "bmc"])
@pytest.mark.parametrize(("width", "rare"), [(32, 3_000_000_000), (64, RARE)])
def test_a_rare_number_is_found(strategy: str, width: int, rare: int) -> None:
    program = rare_number(width, rare)
    result = load_strategy(strategy).run(program, ASKED, Silent())
    assert result.violation is not None
    assert confirm(program, result.violation)[0].kind == "assert"


def test_what_is_computed_with_is_not_sampled_without_a_warning() -> None:
    program = rare_number(32, 77, spoilt=True)
    sampled = take_samples(program)
    assert sampled is not None
    assert not sampled.is_exact
    result = load_strategy("full").run(program, ASKED, Silent())
    assert result.violation is None
    assert len(result.limits) == 1
    assert "of the 4,294,967,296 outcomes at hand.py:1 were tried" in result.limits[0]


def test_hangs_are_not_looked_for_in_samples() -> None:
    asked = SearchOptions(properties=frozenset({"assert", "hang"}))
    result = load_strategy("full").run(rare_number(32, 2**40), asked, Silent())
    assert (result.violation, len(result.limits)) == (None, 1)
    assert "hangs were not looked for" in result.limits[0]


def test_a_choice_in_an_atomic_loop_is_a_bound() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    start, head, done = body.at(), body.at(Mode.ATOMIC), body.at()
    again = Binary("lt", load(x), Const(5))
    more = put(x, Binary("add", load(x), Choice()))
    body.edge(start, head, kind=Kind.ATOMIC)
    body.edge(head, head, more, kind=Kind.CHOOSE, guard=again, choices=3)
    body.edge(head, done, kind=Kind.ATOMIC, guard=negate(again))
    check = Check(negate(equals(x, 6)), Fault.ASSERT, "six")
    body.edge(done, FINISHED, check, kind=Kind.ASSERT)
    program = prepare(builder.program())
    for strategy in ("full", "dpor"):
        result = load_strategy(strategy).run(program, ASKED, Silent())
        assert result.violation is None
        assert "an atomic section chooses in a loop at hand.py:2" in result.limits[0]
    faults = SearchOptions(properties=frozenset({"assert"}), limit_seconds=ENOUGH)
    result = load_strategy("bmc").run(program, faults, Silent())
    assert result.violation is not None
    assert confirm(program, result.violation)[0].message.startswith("six")
