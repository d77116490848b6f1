"""Leader election in a ring: with persistent sets the number of states grows linearly."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

MODEL = Path(__file__).parents[2] / "examples" / "leader_election.py"


def states(nodes: int, strategy: str) -> int:
    result = mazurka.check(MODEL, strategy=strategy, definitions={"N": str(nodes)})
    assert result.verdict == "holds"
    return result.statistics.states


@pytest.mark.parametrize("strategy", ["stubborn", "lock-patterns", "ample"])
@pytest.mark.parametrize("nodes", [4, 8, 12])
def test_states_grow_linearly(nodes: int, strategy: str) -> None:
    """One order of the steps: three rounds of N messages, each put and taken, and what each node
    does at its beginning and end."""
    assert states(nodes, strategy) == 12 * nodes + 4


def test_without_reduction_they_multiply() -> None:
    assert states(4, "full") == 330
    assert states(5, "full") == 1074
