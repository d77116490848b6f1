"""The examples give the verdicts they promise, also as commands and under two hash seeds."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mazurka.search.registry import load_strategy
from tests.corpus.model_files import (
    Expectation,
    read_expectation,
    require_agreement,
    require_reduced_verdicts,
    require_verdict_in_order,
    require_verdict_of_movers,
    require_verdict_without_merging,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = [read_expectation(path) for path in sorted(EXAMPLES.glob("*.py"))]
EXIT_STATUS = {"holds": 0, "violated": 1, "inconclusive": 3}

VARIANTS = [
    ("alternating_bit", {"USE_BIT": "0"}, "violated"),
    ("bakery", {"DOORBELL": "0"}, "violated"),
    ("barrier_phases", {"SECOND": "0"}, "violated"),
    ("bluetooth", {"FIXED": "1"}, "holds"),
    ("user_driver", {"EARLY": "1"}, "violated"),
    ("bluetooth", {"FIXED": "1", "REQUESTS": "2"}, "holds"),
    ("bounded_buffer_one_condition", {"ALL": "1"}, "holds"),
    ("daisy", {"FIXED": "1", "SEEK": "1"}, "holds"),
    ("double_checked", {"PUBLISH_LAST": "1"}, "holds"),
    ("leader_election", {"KEEP": "1"}, "violated"),
    ("philosophers", {"N": "7"}, "violated"),
    ("raft_election", {"FORGET": "1"}, "violated"),
    ("philosophers_waiter", {"SEATS": "4"}, "violated"),
    ("shared_table", {"SWAP": "0"}, "violated"),
    ("shared_table", {"EARLY": "1"}, "violated"),
    ("shared_table", {"WAIT": "0"}, "violated"),
]
"""What the examples' texts promise for other constants."""

AS_COMMANDS = [
    "bank_transfer",
    "bounded_buffer_if",
    "lost_update",
    "lost_wakeup",
    "peterson",
    "work_queue",
]

MEASURED = {"seconds", "total_seconds", "states_per_second", "peak_bytes", "bytes_per_state"} | {
    "preparing_seconds",
    "explaining_seconds",
    "elapsed_seconds",
}
"""Times and memory, which may differ from run to run."""


def title(model: Expectation) -> str:
    return model.path.stem


def named(name: str) -> Expectation:
    return read_expectation(EXAMPLES / f"{name}.py")


# All tests of one model follow each other, so that its program is made and compiled once.
every_example = pytest.mark.parametrize("model", MODELS, ids=title, scope="module")


def test_there_are_enough_examples() -> None:
    assert len(MODELS) >= 14


@every_example
def test_example_tells_its_story(model: Expectation) -> None:
    story = ast.get_docstring(ast.parse(model.path.read_text(encoding="utf-8")))
    assert story is not None
    assert len(story.splitlines()) >= 3


@pytest.mark.parametrize("order", ["dfs", "bfs"])
@every_example
def test_verdict(model: Expectation, order: str) -> None:
    require_verdict_in_order(model, order)


@every_example
def test_merging_changes_no_verdict(model: Expectation) -> None:
    require_verdict_without_merging(model)


@every_example
def test_reductions_change_no_verdict(model: Expectation) -> None:
    require_reduced_verdicts(model)


@pytest.mark.parametrize("movers", ["static", "declared"])
@every_example
def test_other_sources_of_movers_change_no_verdict(model: Expectation, movers: str) -> None:
    require_verdict_of_movers(model, movers)


@every_example
def test_reference_interpreter_agrees(model: Expectation) -> None:
    require_agreement(model)


@pytest.mark.parametrize(("name", "definitions", "verdict"), VARIANTS)
def test_other_constants(name: str, definitions: dict[str, str], verdict: str) -> None:
    model = named(name)
    model.definitions.update(definitions)
    assert model.verdict_of().verdict == verdict
    full = load_strategy("full")
    assert model.verdict_on(model.program(), full, order="bfs").verdict == verdict


def test_robots_have_the_states_of_the_paper() -> None:
    """Table 1 of the paper, standard semantics: 4877 states, 9754 transitions for two robots."""
    statistics = named("robots").verdict_of(all_=True).statistics
    assert statistics is not None
    assert (statistics.states, statistics.transitions) == (4877, 9754)


def run_command(model: Expectation, seed: int) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-m", "mazurka", "check", str(model.path), "--json"]
    result = subprocess.run(
        [*command, *model.arguments], capture_output=True, text=True, env=environment, check=False
    )
    answer = json.loads(result.stdout)
    for part in (answer["stats"], *(answer["rounds"] or ())):
        for name in MEASURED & set(part):
            del part[name]
    return result.returncode, answer


@pytest.mark.parametrize("name", AS_COMMANDS)
def test_command_is_the_same_under_two_hash_seeds(name: str) -> None:
    model = named(name)
    status, answer = run_command(model, seed=0)
    assert status == EXIT_STATUS[model.verdict]
    assert answer["verdict"] == model.verdict
    assert (answer["violation"] or {}).get("kind") == model.kind
    assert (status, answer) == run_command(model, seed=4242)
