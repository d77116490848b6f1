"""Table 1 of paper 003 by the native search: every row, however long."""

from __future__ import annotations

import pytest

from mazurka.bench.cartesian_subjects import ROWS, Published, Row
from mazurka.frontend.python import load_model
from mazurka.ir.native import native
from mazurka.ir.prepare import prepare
from mazurka.stateful.cartesian import CycleRule
from mazurka.stateful.cartesian_search import Vectors, search_cartesian
from mazurka.stateful.strategy import SearchOptions, Silent

OPTIONS = SearchOptions(properties=frozenset({"assert"}), stop_at_first=False)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.cartesian is not None], ids=lambda row: row.name
)
def test_every_row_is_the_papers(row: Row) -> None:
    definitions = {name: str(value) for name, value in row.constants.items()}
    program = native(prepare(load_model(str(row.path), definitions)))
    table1 = Vectors(rule=CycleRule.TABLE1, finished=row.finished)
    as_published = search_cartesian(program, OPTIONS, Silent(), table1)
    assert as_published.violation is None
    counted = as_published.statistics
    assert Published(counted.states, counted.transitions) == row.cartesian
    by_default = search_cartesian(program, OPTIONS, Silent(), Vectors(finished=row.finished))
    assert by_default.statistics.states <= counted.states
