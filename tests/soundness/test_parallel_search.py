"""Breadth-first search by several workers finds what one worker finds.

Random programs are small, so all levels are shared out state by state, and every array begins too
small.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.searches import parallel
from mazurka.stateful.strategies.full import STRATEGY
from tests.soundness.reductions import Subject
from tests.soundness.replaying import replays

pytestmark = pytest.mark.usefixtures("eager_workers")

EVERYTHING = SearchOptions(
    properties=frozenset({"assert", "deadlock", "hang", "race"}),
    order="bfs",
    stop_at_first=False,
    limit_bytes=1 << 24,
)


@pytest.fixture
def eager_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SMALL_LEVEL": 1,
        "FIRST_CAPACITY": 16,
        "EARLY_CAPACITY": 4,
        "FINDING_ROOM": 0,
    }.items():
        monkeypatch.setattr(parallel, name, value)


def search(program: Program, options: SearchOptions, workers: int) -> SearchResult:
    return STRATEGY.run(program, replace(options, tuning={"workers": workers}), Silent())


@pytest.mark.parametrize("first", range(52_000, 52_060, 20))
def test_workers_change_nothing(first: int) -> None:
    for seed in range(first, first + 20):
        subject = Subject(seed)
        program = subject.program()
        alone = search(program, EVERYTHING, 1)
        for workers in (2, 5):
            several = search(program, EVERYTHING, workers)
            assert several.statistics.states == alone.statistics.states, subject
            assert several.statistics.transitions == alone.statistics.transitions, subject
            assert several.statistics.depth == alone.statistics.depth, subject
            assert set(several.limits) == set(alone.limits), subject
            assert several.notes == alone.notes, subject
            assert (several.violation is None) == (alone.violation is None), subject


@pytest.mark.parametrize("first", range(53_000, 53_040, 20))
def test_violations_are_shortest_and_always_the_same(first: int) -> None:
    options = replace(EVERYTHING, stop_at_first=True)
    for seed in range(first, first + 20):
        subject = Subject(seed)
        program = subject.program()
        alone = search(program, options, 1).violation
        found = [search(program, options, workers) for workers in (2, 2, 3)]
        if alone is None:
            assert [each.violation for each in found] == [None] * 3, subject
            continue
        kinds = {each.violation.kind for each in found if each.violation is not None}
        assert len(kinds) == 1, subject
        assert len({(each.statistics.states, each.statistics.transitions) for each in found}) == 1
        for each in found:
            assert each.violation is not None, subject
            assert len(each.violation.leading) <= len(alone.leading), subject
            assert replays(program, each.violation, options.properties), subject
