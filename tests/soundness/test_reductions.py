"""Every strategy gives the verdicts of the unreduced search, on random programs of two kinds.

`benchmarks/reductions.py` does the same on many more.
"""

from __future__ import annotations

import pytest

from mazurka.ir.passes.validate import validate
from mazurka.search.registry import load_strategy, strategy_names
from tests.soundness.amounts import shares
from tests.soundness.reductions import (
    CHOOSING,
    STOPPING,
    Agreement,
    Subject,
    compare_all,
    consult,
)

EXPLICIT = [*strategy_names("stateful"), *strategy_names("stateless")]
"""`test_circuits.py` compares those of the symbolic engine."""
REDUCTIONS = [name for name in EXPLICIT if name != "full"]
PROGRAMS = shares(60)
"""Half of them from each generator; `benchmarks/reductions.py` compares thousands."""
PORTION = 30
CHOOSING_PROGRAMS = 15


@pytest.mark.parametrize("first", [*range(0, PROGRAMS, PORTION), STOPPING])
def test_reductions_agree_with_the_unreduced_search(first: int) -> None:
    require_agreement(first, PORTION, REDUCTIONS)


def test_transactions_see_choices_that_wait() -> None:
    require_agreement(CHOOSING, CHOOSING_PROGRAMS, ["cpc", "cycle-detection", "optimistic"])


def require_agreement(first: int, count: int, names: list[str]) -> None:
    strategies = [load_strategy(name) for name in names]
    searches = inconclusive = 0
    for seed in range(first, first + count):
        subject = Subject(seed)
        program = subject.program()
        validate(program)
        oracle = consult(program)
        if oracle is None:
            continue
        for strategy in strategies:
            for comparison in compare_all(oracle, strategy, turn=seed // 8):
                wrong = comparison.agreement is Agreement.DISAGREES
                assert not wrong, f"{subject}: {comparison}"
                searches += 1
                inconclusive += comparison.agreement is Agreement.INCONCLUSIVE
    assert inconclusive <= searches // 50
