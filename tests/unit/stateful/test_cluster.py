"""Search by a cluster, within this process: limits, losses, and what ends a level too early.

`tests/unit/stateful/test_ray_cluster.py` has the same on real nodes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest
from tests.soundness.cluster_searches import LocalCrew, by_parts, make_parts
from tests.soundness.shared_searches import EVERYTHING, FIRST, difference
from tests.unit.ir.programs import crossed_locks, lost_update, modular_counters

from mazurka.cluster.crew import ClusterError
from mazurka.errors import InternalError, OptionError
from mazurka.ir.native.step import native
from mazurka.search import LOST_WORKER, SearchOptions, SearchResult, Silent, Statistics
from mazurka.stateful.cluster import part, search
from mazurka.stateful.cluster.search import ClusterSearch, PartRound
from mazurka.stateful.searches import conduct
from mazurka.stateful.strategies.full import STRATEGY, refuse

THREADS, MODULUS = 4, 6
COUNTERS = modular_counters(THREADS, MODULUS)
STATES = MODULUS**THREADS
"""Each counter takes each of its values; a state has one successor for each thread."""
CHAIN = modular_counters(1, 40)
"""A ring of 40 states: each is found once."""
OPTIONS = SearchOptions(properties=frozenset({"assert"}), order="bfs", limit_bytes=1 << 24)


@pytest.fixture(autouse=True)
def small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers take part in the smallest searches."""
    monkeypatch.setattr(ClusterSearch, "shared_level", 1)


@pytest.fixture
def small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rounds in a level, two of them at a time."""
    monkeypatch.setattr(search, "LARGE_LEVEL", 2)
    monkeypatch.setattr(conduct, "FIRST_SLICE", 16)
    monkeypatch.setattr(conduct, "SLICE_TRANSITIONS", 16)


def run(
    workers: int,
    options: SearchOptions = OPTIONS,
    observer: Silent | None = None,
    kind: type[ClusterSearch] = ClusterSearch,
) -> SearchResult:
    crew = LocalCrew(make_parts(COUNTERS, options, workers))
    return kind(native(COUNTERS), options, observer or Silent(), crew).run()


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_parts_count_as_one_process_does(workers: int) -> None:
    result = run(workers)
    assert result.limits == ()
    assert result.statistics.states == STATES
    assert result.statistics.transitions == THREADS * STATES
    assert result.statistics.depth == THREADS * (MODULUS - 1)
    assert result.order == "bfs"


@pytest.mark.parametrize("shared_level", [1, 20])
def test_each_worker_has_a_part(shared_level: int) -> None:
    search, parts = search_by_two(shared_level)
    result = search.run()
    assert (result.statistics.states, result.statistics.transitions) == (STATES, THREADS * STATES)
    assert result.statistics.depth == THREADS * (MODULUS - 1)
    assert sum(each.store.size for each in parts) == STATES
    assert min(each.store.size for each in parts) > STATES // 8
    for number, each in enumerate(parts):
        assert (each.placement.find_owners(each.all_states()) == number).all()
    assert all(len(each.levels) >= result.statistics.depth + 2 for each in parts)


def test_most_steps_stay_within_a_part() -> None:
    """One counter in four decides, and of its six steps some lead to the other part."""
    search, parts = search_by_two(20)
    result = search.run()
    assert 0 < sum(sum(each.sent) for each in parts) < result.statistics.transitions // 8


def test_a_small_search_is_left_to_one_worker() -> None:
    search, parts = search_by_two(STATES)
    result = search.run()
    assert (result.statistics.states, result.statistics.transitions) == (STATES, THREADS * STATES)
    assert result.statistics.depth == THREADS * (MODULUS - 1)
    assert [each.store.size for each in parts] == [STATES, 0]
    assert parts[0].reports < 5, "it goes from level to level without being asked"


def test_a_worker_with_little_memory_gets_help() -> None:
    """Each of two workers has 150,000 bytes, and the first table takes 32,768 of them."""
    options = replace(OPTIONS, limit_bytes=300_000)
    crew = LocalCrew(make_parts(COUNTERS, options, 2))
    search = ClusterSearch(native(COUNTERS), options, Silent(), crew)
    search.shared_level = STATES
    assert search.run().statistics.states == STATES
    assert min(each.store.size for each in crew.subjects) > 0


def search_by_two(shared_level: int) -> tuple[ClusterSearch, list[Any]]:
    crew = LocalCrew(make_parts(COUNTERS, OPTIONS, 2))
    search = ClusterSearch(native(COUNTERS), OPTIONS, Silent(), crew)
    search.shared_level = shared_level
    return search, crew.subjects


def test_memory_is_limited() -> None:
    result = run(2, replace(OPTIONS, limit_bytes=60_000))
    assert result.limits == ("memory",)
    assert 1 < result.statistics.states < STATES


def test_transitions_are_limited() -> None:
    result = run(2, replace(OPTIONS, limit_transitions=100))
    assert result.limits == ("transitions",)
    assert 100 <= result.statistics.transitions < THREADS * STATES


class Impatient(Silent):
    """Interrupts a search when it has told of some progress."""

    def progress(self, statistics: Statistics) -> None:
        if statistics.states > 1:
            raise KeyboardInterrupt


@pytest.mark.usefixtures("small_rounds")
def test_an_interrupted_search_says_how_far_it_has_come() -> None:
    result = run(2, observer=Impatient())
    assert result.limits == ("interrupted",)
    assert 1 < result.statistics.states < STATES


# --- workers that are lost --------------------------------------------------------------------


class LosingCrew(LocalCrew):
    """Loses its second worker when somebody has been asked a certain thing so many times."""

    def __init__(self, *given: Any, method: str, after: int) -> None:
        super().__init__(*given)
        self.method, self.after = method, after

    def ask(self, worker: int, method: str, *given: Any, answers: int = 1) -> list[Any]:
        self.after -= method == self.method
        if self.after < 0:
            self.lost.add(1)
        return super().ask(worker, method, *given, answers=answers)


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize(
    ("method", "after"), [("begin", 0), ("expand", 1), ("expand", 40), ("receive", 21)]
)
def test_a_lost_worker_leaves_it_open(method: str, after: int) -> None:
    crew = LosingCrew(make_parts(COUNTERS, OPTIONS, 2), method=method, after=after)
    result = ClusterSearch(native(COUNTERS), OPTIONS, Silent(), crew).run()
    assert result.limits == (LOST_WORKER,)
    assert result.violation is None
    assert any("a worker was lost" in note for note in result.notes)


def test_a_violation_whose_way_is_lost_is_not_reported() -> None:
    crew = LosingCrew(make_parts(crossed_locks(), FIRST, 2), method="go_back", after=0)
    result = ClusterSearch(native(crossed_locks()), FIRST, Silent(), crew).run()
    assert (result.limits, result.violation) == ((LOST_WORKER,), None)


# --- mutants ----------------------------------------------------------------------------------


class Losing(ClusterSearch):
    """Loses the batches from one worker to another."""

    def deliver(self, sent: PartRound) -> None:
        sent.batches[0][1] = sent.batches[0][0]  # what a worker sends to itself: nothing
        super().deliver(sent)


class Misdirecting(ClusterSearch):
    """Brings states to a part that they do not belong to."""

    def deliver(self, sent: PartRound) -> None:
        if self.level == 3:
            sent.batches[1][2], sent.batches[1][0] = sent.batches[1][0], sent.batches[1][2]
        super().deliver(sent)


class Hasty(ClusterSearch):
    """Goes on to the next level while batches are under way: each is delivered a round later."""

    late: PartRound | None = None

    def deliver(self, sent: PartRound) -> None:
        before, self.late = self.late, sent if len(self.at_work) > 1 else None
        if before is not None:
            super().deliver(before)


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("kind", [Losing, Misdirecting, Hasty])
def test_a_search_that_goes_wrong_ends_with_an_error(kind: type[ClusterSearch]) -> None:
    with pytest.raises(InternalError):
        run(3, kind=kind)


@pytest.mark.usefixtures("small_rounds")
@pytest.mark.parametrize("kind", [Losing, Hasty])
def test_the_comparison_with_one_process_would_notice(
    kind: type[ClusterSearch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nobody counted what is sent and what has come."""
    monkeypatch.setattr(ClusterSearch, "require_complete", lambda search: None)
    assert difference(CHAIN, by_parts(3)) is None
    assert difference(CHAIN, by_parts(3, kind=kind)) is not None


def test_a_part_that_takes_others_states_for_its_own_is_noticed() -> None:
    crew = LocalCrew(make_parts(COUNTERS, EVERYTHING, 2))
    crew.subjects[1] = make_parts(COUNTERS, EVERYTHING, 2)[0]
    with pytest.raises(InternalError):
        ClusterSearch(native(COUNTERS), EVERYTHING, Silent(), crew).run()


def test_states_that_are_taken_for_sent_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant remembers states as sent that were put into an outbox and never left it."""

    class Forgetting(part.StatePart):
        def expand(self, level: int, budget: int, hang_wanted: bool, large: int) -> list[Any]:
            report, *batches = super().expand(level, budget, hang_wanted, large)
            if level >= 2:
                self.sent = [0] * self.parts
                batches = [batch[:0] for batch in batches]
                report = self.report(findings=report.findings)
            return [report, *batches]

    monkeypatch.setattr("tests.soundness.cluster_searches.StatePart", Forgetting)
    monkeypatch.setattr(ClusterSearch, "require_complete", lambda search: None)
    assert difference(COUNTERS, by_parts(2)) is not None


# --- what is refused --------------------------------------------------------------------------


def test_another_version_of_mazurka_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    crew = LocalCrew(make_parts(COUNTERS, OPTIONS, 2))
    monkeypatch.setattr(crew.subjects[1], "describe", lambda: "mazurka 0.0")
    with pytest.raises(ClusterError, match="worker 2 has another version"):
        ClusterSearch(native(COUNTERS), OPTIONS, Silent(), crew).run()


@pytest.mark.parametrize(
    ("tuning", "message"),
    [
        ({"store": "disk"}, "--cluster keeps states in memory"),
        ({"device": "cuda"}, "both say what searches"),
    ],
)
def test_what_makes_no_sense_is_refused(tuning: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        refuse(replace(OPTIONS, tuning={"cluster": "auto", **tuning}))


def test_without_ray_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    options = replace(OPTIONS, tuning={"cluster": "auto"})
    with pytest.raises(ClusterError, match=r"pip install 'mazurka-check\[ray\]'"):
        STRATEGY.run(lost_update(), options, Silent())
