"""Table 1 of paper 003: the paper's own numbers, states and transitions, of both searches.

Of the reduced searches these are the rows that the algorithm as written, on the interpreter, does
in a few seconds.  Without reduction it is every row that the paper has.
"""

from __future__ import annotations

import pytest

from mazurka.bench.cartesian_subjects import ROWS, Row, select
from mazurka.frontend.python import load_model
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.registry import load_strategy
from mazurka.stateful.cartesian import Cartesian, CycleRule, Finished, explore_cartesian

MOST_TRANSITIONS = 13_000
"""A few seconds of the search on the interpreter."""

SMALL = [
    row
    for row in ROWS
    if row.cartesian is not None and (row.cartesian.transitions or 0) <= MOST_TRANSITIONS
]
ALSO_STANDARD = [row for row in ROWS if row.standard is not None]


def program(row: Row) -> Program:
    definitions = {name: str(value) for name, value in row.constants.items()}
    return prepare(load_model(str(row.path), definitions))


def counts(search: Cartesian) -> tuple[int, int]:
    return len(search.covered), search.transitions


@pytest.mark.parametrize("row", SMALL, ids=lambda row: row.name)
def test_cartesian_numbers(row: Row) -> None:
    subject = program(row)
    as_published = explore_cartesian(subject, rule=CycleRule.TABLE1, finished=row.finished)
    assert row.cartesian is not None
    assert counts(as_published) == row.cartesian.counts
    assert not as_published.kinds
    by_default = explore_cartesian(subject, finished=row.finished)
    assert len(by_default.covered) <= len(as_published.covered)
    assert by_default.transitions <= as_published.transitions


@pytest.mark.parametrize("row", ALSO_STANDARD, ids=lambda row: row.name)
def test_standard_numbers(row: Row) -> None:
    """Every thread has one transition in every state, unless those that exit have none.

    Those that exit never wait for each other in these rows: a prefix, which would be stopped by
    that, has nothing but moves.  So the steps taken are all there is.
    """
    subject = program(row)
    options = SearchOptions(properties=frozenset({"assert"}), stop_at_first=False)
    result = load_strategy("full").run(subject, options, Silent())
    assert result.violation is None
    assert not result.limits
    states, transitions = result.statistics.states, result.statistics.transitions
    if row.finished is Finished.LOOPS:
        transitions = states * len(subject.threads)
    else:
        search = explore_cartesian(subject)
        assert search.moves == search.transitions
    assert row.standard is not None
    assert (states, transitions) == row.standard.counts


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
    (row,) = select(name)
    search = explore_cartesian(program(row), rule=CycleRule.LITERAL, finished=row.finished)
    assert counts(search) == (states, transitions)


def test_the_table_is_complete() -> None:
    """2 + 2 Robots + 17 FileSystem + 16 Indexer + 8 Philosophers + 8 CMIS."""
    assert len(ROWS) == len({row.name for row in ROWS}) == 53
    assert all(row.path.exists() for row in ROWS)
