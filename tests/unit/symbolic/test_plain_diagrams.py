"""Decision diagrams in plain Python, where CUDD is not installed, give the same answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mazurka import check
from mazurka.symbolic import bdd
from mazurka.symbolic.solving.diagrams import AllStates, DiagramSolver, TargetFound
from mazurka.symbolic.solving.fair_cycles import FairCycles
from mazurka.symbolic.solving.reachability import Reachability, ReachProblem, ReachProgress

dd = pytest.importorskip("dd")
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def diagrams(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Search in this process, where CUDD cannot be imported; a list of the modules used."""
    used: list[str] = []

    def reach(
        solver: DiagramSolver,
        problem: ReachProblem,
        tell: Callable[[ReachProgress], None],
        report: Callable[[TargetFound], bool],
    ) -> AllStates | None:
        search = Reachability(
            problem, tell, lambda target, frames: report(TargetFound(target, frames))
        )
        used.append(type(search.bdd).__module__)
        if not search.search():
            return None
        lasso = FairCycles(search, lambda _: None).find() if problem.conditions else None
        return AllStates(search.count(), search.passes, lasso)

    monkeypatch.setitem(sys.modules, "dd.cudd", None)
    monkeypatch.delattr(dd, "cudd", raising=False)
    monkeypatch.setattr(sys, "setrecursionlimit", lambda limit: None)
    monkeypatch.setattr(DiagramSolver, "reach", reach)
    monkeypatch.setattr(bdd, "has_diagrams", lambda: False)
    return used


@pytest.mark.parametrize("interleaving", ["sweeps", "full"])
def test_all_states_are_counted(diagrams: list[str], interleaving: str) -> None:
    """A search that stores the states of Peterson's algorithm finds 74, too."""
    found = check(EXAMPLES / "peterson.py", strategy="bdd", interleaving=interleaving)
    assert found.statistics is not None
    assert (found.verdict, found.statistics.states) == ("holds", 74)
    assert bdd.IN_PLAIN_PYTHON in found.notes
    assert set(diagrams) == {"dd.autoref"}


def test_a_violation_is_found(diagrams: list[str]) -> None:
    found = check(EXAMPLES / "lost_update.py", strategy="bdd")
    assert found.violation is not None
    assert found.violation.message == "an update was lost (counter is 1)"


@pytest.mark.parametrize(
    ("formula", "verdict"), [("F G turn == 1", "violated"), ("G turn >= 0", "holds")]
)
def test_fair_cycles_are_found(diagrams: list[str], formula: str, verdict: str) -> None:
    found = check(EXAMPLES / "peterson.py", strategy="bdd", ltl=formula, fair=True)
    assert found.verdict == verdict
    assert set(diagrams) == {"dd.autoref"}
