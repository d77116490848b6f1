"""Table 1 of paper 003: the paper's own numbers, states and transitions, of both searches.

Of the reduced searches these are the rows that the algorithm as written, on the interpreter, does
in a few seconds.  Without reduction it is every row that the paper has.
"""

from __future__ import annotations

import pytest

from mazurka.bench.cartesian import CASES, CartesianCase
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.reference.cartesian import Cartesian, explore_cartesian
from mazurka.stateful.variants import CycleRule, Finished
from tests.papers.cartesian_programs import load_case

MOST_TRANSITIONS = 13_000
"""A few seconds of the search on the interpreter."""

SMALL = [
    case
    for case in CASES
    if "table1" in case.paper and (case.paper["table1"].transitions or 0) <= MOST_TRANSITIONS
]
ALSO_STANDARD = [case for case in CASES if "standard" in case.paper]


def counts(search: Cartesian) -> tuple[int, int]:
    return len(search.covered), search.transitions


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_cartesian_numbers(case: CartesianCase) -> None:
    subject = load_case(case.name)
    as_published = explore_cartesian(subject, rule=CycleRule.TABLE1, finished=case.finished)
    assert counts(as_published) == case.paper["table1"].counts
    assert not as_published.kinds
    by_default = explore_cartesian(subject, finished=case.finished)
    assert len(by_default.covered) <= len(as_published.covered)
    assert by_default.transitions <= as_published.transitions


@pytest.mark.parametrize("case", ALSO_STANDARD, ids=lambda case: case.name)
def test_standard_numbers(case: CartesianCase) -> None:
    """Every thread has one transition in every state, unless those that exit have none.

    Those that exit never wait for each other in these rows: a prefix, which would be stopped by
    that, has nothing but moves.  So the steps taken are all there is.
    """
    subject = load_case(case.name)
    options = SearchOptions(properties=frozenset({"assert"}), stop_at_first=False)
    result = load_strategy("full").run(subject, options, Silent())
    assert result.violation is None
    assert not result.limits
    states, transitions = result.statistics.states, result.statistics.transitions
    if case.finished is Finished.LOOPS:
        transitions = states * len(subject.threads)
    else:
        search = explore_cartesian(subject)
        assert search.moves == search.transitions
    assert (states, transitions) == case.paper["standard"].counts


@pytest.mark.parametrize(
    ("name", "states", "transitions"),
    [
        ("shared-ptr", 418, 12368),
        ("shared-array", 132, 1516),
        ("robots-2", 56, 2623),
        ("file-system-14", 5, 522),
        ("cmis-2-8", 51, 1420),
        ("indexer-12", 9, 394),
    ],
)
def test_figure_6_to_the_letter(name: str, states: int, transitions: int) -> None:
    """What the figure says is not what the table was made with.

    The numbers are from a separate study of the table, which has its own programs and search.
    """
    (case,) = (case for case in CASES if case.name == name)
    search = explore_cartesian(load_case(case.name), rule=CycleRule.LITERAL, finished=case.finished)
    assert counts(search) == (states, transitions)


def test_the_table_is_complete() -> None:
    """2 + 2 Robots + 17 FileSystem + 16 Indexer + 8 Philosophers + 8 CMIS."""
    assert len(CASES) == len({case.name for case in CASES}) == 53
    assert all(case.path.exists() for case in CASES)
