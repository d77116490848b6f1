"""`--self-check` repeats a search on the interpreter, and notices when the two disagree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.limits import NO_TIME

from mazurka import check
from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.search import SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.stateful.self_check import check_full

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = str(EXAMPLES / "philosophers_ordered.py")
ENDING = str(EXAMPLES / "bank_transfer_ordered.py")
"""A program whose executions all end."""


EXPLICIT = [*strategy_names("stateful"), *strategy_names("stateless")]


@pytest.mark.parametrize("strategy", EXPLICIT)
def test_the_interpreter_agrees(strategy: str) -> None:
    how = load_strategy(strategy)
    example = ENDING if how.over_schedules else EXAMPLE
    for properties in ({"assert"}, how.preserves):
        verdict = check(example, strategy=strategy, properties=properties, self_check=True)
        assert any(note.startswith("self-check: the interpreter") for note in verdict.notes)


@pytest.mark.parametrize("strategy", ["auto", "full", "cpc", "cartesian", "stubborn"])
def test_a_search_without_an_end_is_not_checked_and_says_so(strategy: str) -> None:
    verdict = check(
        EXAMPLES / "peterson_filter.py",
        strategy=strategy,
        definitions={"N": 4},
        limit_seconds=NO_TIME,
        self_check=True,
    )
    assert verdict.limits == ("time",)
    assert "self-check: not done, since the search did not come to its end" in verdict.notes


def test_a_search_that_counts_wrongly_is_noticed() -> None:
    program = load_program(EXAMPLE, Reading())
    options = SearchOptions()
    result = load_strategy("full").run(program, options, Silent())
    fewer = replace(result.statistics, states=result.statistics.states - 1)
    with pytest.raises(InternalError, match="self-check"):
        check_full(program, options, replace(result, statistics=fewer))
