"""The figures of paper 000: every assertion fails, and who may miss it.

Figures 1, 2, 3 and 8, and the variant of Figure 2 that the text describes, are model files in
`transactions`.  In all of them T1 writes and T2 finds what was written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check
from mazurka.checking import load_program
from mazurka.report.answer import INCONCLUSIVE, UNSOUND, VIOLATED
from mazurka.search.reading import Reading

HERE = Path(__file__).parent / "transactions"
MESSAGES = {
    "fig1": "g has been written",
    "fig2": "g has been written",
    "fig2_assume": "g has been written",
    "fig3": "x has been written",
    "fig8": "g has been written",
}
SOUND = ("full", "cpc", "cpc-strict", "cycle-detection", "optimistic")
ENDLESS = ("fig1", "fig3", "fig8")
"""Where T1, once committed, does nothing but loop."""

figures = pytest.mark.parametrize("figure", sorted(MESSAGES))
merging = pytest.mark.parametrize("merge", [True, False], ids=["merged", "unmerged"])


@merging
@figures
@pytest.mark.parametrize("strategy", SOUND)
def test_sound_searches_find_the_violation(strategy: str, figure: str, merge: bool) -> None:
    verdict = check(HERE / f"{figure}.py", strategy=strategy, properties=("assert",), merge=merge)
    assert verdict.verdict == VIOLATED
    assert verdict.violation is not None
    assert verdict.violation.kind == "assert"
    assert verdict.violation.message.startswith(MESSAGES[figure])


@merging
@pytest.mark.parametrize("figure", ENDLESS)
def test_transactions_that_never_end_hide_it(figure: str, merge: bool) -> None:
    """The ignoring problem; the verdict does not claim that the assertion holds."""
    verdict = check(
        HERE / f"{figure}.py", strategy="transactions", properties=("assert",), merge=merge
    )
    assert verdict.verdict == INCONCLUSIVE
    assert verdict.limits == (UNSOUND,)


@merging
def test_a_branch_that_ends_is_enough_for_transactions(merge: bool) -> None:
    """Figure 2: T2 runs where T1 has returned."""
    verdict = check(HERE / "fig2.py", strategy="transactions", properties=("assert",), merge=merge)
    assert verdict.verdict == VIOLATED


@pytest.mark.parametrize(
    ("figure", "loops"),
    [("fig1", 1), ("fig2", 1), ("fig2_assume", 0), ("fig3", 1), ("fig8", 2)],
)
def test_the_loops_are_in_the_program(figure: str, loops: int) -> None:
    """Each `while (true) { skip; }` is an edge from a location to itself, merged or not."""
    for merge in (True, False):
        program = load_program(str(HERE / f"{figure}.py"), Reading(merge=merge))
        edges = program.threads[0].edges
        assert sum(edge.source == edge.target for edge in edges) == loops
