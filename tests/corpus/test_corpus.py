"""Small models, one for each construct and each mistake: every verdict is the one stated.

Each runs depth-first and breadth-first, with and without merging of local steps, and against the
reference interpreter's search of all its states.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.model_files import (
    Expectation,
    read_expectation,
    require_agreement,
    require_reduced_verdicts,
    require_verdict_in_order,
    require_verdict_of_movers,
    require_verdict_without_merging,
)

CORPUS = Path(__file__).parent
FOLDERS = ("holds", "violated", "inconclusive")
MODELS = [
    read_expectation(path) for folder in FOLDERS for path in sorted((CORPUS / folder).glob("*.py"))
]


def title(model: Expectation) -> str:
    return f"{model.path.parent.name}/{model.path.stem}"


# All tests of one model follow each other, so that its program is made and compiled once.
every_model = pytest.mark.parametrize("model", MODELS, ids=title, scope="module")


@every_model
def test_file_is_in_the_folder_of_its_verdict(model: Expectation) -> None:
    assert model.path.parent.name == model.verdict


@pytest.mark.parametrize("order", ["dfs", "bfs"])
@every_model
def test_verdict(model: Expectation, order: str) -> None:
    require_verdict_in_order(model, order)


@every_model
def test_merging_changes_no_verdict(model: Expectation) -> None:
    require_verdict_without_merging(model)


@every_model
def test_reductions_change_no_verdict(model: Expectation) -> None:
    require_reduced_verdicts(model)


@pytest.mark.parametrize("movers", ["static", "declared"])
@every_model
def test_other_sources_of_movers_change_no_verdict(model: Expectation, movers: str) -> None:
    require_verdict_of_movers(model, movers)


@every_model
def test_reference_interpreter_agrees(model: Expectation) -> None:
    require_agreement(model)


@pytest.mark.parametrize("model", [m for m in MODELS if m.states is not None], ids=title)
def test_states_are_as_derived(model: Expectation) -> None:
    statistics = model.verdict_of(all_=True, symmetry=False).statistics
    assert statistics is not None
    assert statistics.states == model.states
