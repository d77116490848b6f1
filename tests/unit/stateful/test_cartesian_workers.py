"""The concurrent cartesian search: shares, limits, interruptions, and what it asks Python for."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from mazurka.bench.cartesian import CASES
from mazurka.errors import UnsupportedError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.native.step import native
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent, Statistics
from mazurka.stateful import blocks
from mazurka.stateful.searches.cartesian import Vectors, VectorSchedules
from mazurka.stateful.searches.cartesian_workers import Backlog, ConcurrentSearch, cartesian_search
from mazurka.stateful.strategies.cartesian import STRATEGY

OPTIONS = SearchOptions(limit_bytes=1 << 28)
PHILOSOPHERS = """
from mazurka.model import *
N = 5
forks = Array(Mutex, N)
def philosopher(first, second):
    while True:
        forks[first].acquire()
        forks[second].acquire()
        forks[first].release()
        forks[second].release()
threads = [philosopher(i, (i + 1) % N) for i in range(N)]
"""
LONG_WAYS = """
from mazurka.model import *
meeting: Int[0, 2] = 0
counts = Array(Int[0, 60000], 2)
def traveller(me):
    global meeting
    while counts[me] < 60000:
        counts[me] += 1
    meeting += 1
    assert meeting < 2
threads = [traveller(0), traveller(1)]
"""


def model(source: str) -> Program:
    return prepare(elaborate(source, "model"))


def row(name: str) -> Program:
    (case,) = (case for case in CASES if case.name == name)
    return case.load(case.constants)


def search(
    program: Program,
    workers: int,
    observer: Silent | None = None,
    *,
    cycle_rule: str = "return",
    **options: object,
) -> SearchResult:
    tuning = {"workers": workers, "cycle_rule": cycle_rule}
    chosen = replace(OPTIONS, tuning=tuning, **options)  # type: ignore[arg-type]
    return STRATEGY.run(program, chosen, observer or Silent())


def test_batch_is_claimed_once_and_in_order() -> None:
    batch = Backlog(3, 10, 3)
    claimed = [batch.claim() for _ in range(4)]
    assert [(share.first, share.last) for share in claimed if share] == [(3, 6), (6, 9), (9, 10)]
    assert claimed[-1] is None
    assert not batch.is_done


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_counts_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    result = search(row("indexer-15"), workers, cycle_rule="table1")
    assert (result.statistics.states, result.statistics.transitions) == (6561, 282852)
    assert result.statistics.depth == search(row("indexer-15"), 1).statistics.depth


def test_batches_are_made_where_there_is_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[Backlog] = []
    work = ConcurrentSearch.work
    monkeypatch.setattr(
        ConcurrentSearch, "work", lambda self, batch: batches.append(batch) or work(self, batch)
    )
    search(row("indexer-15"), 2)
    assert batches
    assert all(share.worker is not None for batch in batches for share in batch.shares)


def test_long_vectors_are_made_piece_by_piece() -> None:
    """One vector of 16,000 moves takes several slices; the last steps of both collide."""
    told: list[int] = []

    class Listening(Silent):
        def progress(self, statistics: Statistics) -> None:
            told.append(statistics.states)

    program = model(LONG_WAYS.replace("60000", "8000"))
    alone, together = search(program, 1, Listening()), search(program, 2)
    assert alone.violation == together.violation
    assert alone.violation is not None
    assert len(told) > 3


@pytest.mark.parametrize("workers", [1, 2])
def test_time_limit_holds_within_a_vector(workers: int) -> None:
    result = search(model(LONG_WAYS), workers, limit_seconds=1e-9)
    assert result.limits == ("time",)
    assert result.statistics.transitions == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_vectors_keep_to_the_memory_limit(workers: int) -> None:
    result = search(model(LONG_WAYS), workers, limit_bytes=1 << 20)
    assert result.limits == ("memory",)
    assert result.violation is None


@pytest.mark.parametrize("workers", [1, 2])
def test_states_keep_to_the_memory_limit(workers: int) -> None:
    result = search(row("indexer-16"), workers, limit_bytes=4 << 20)
    assert result.limits == ("memory",)
    assert result.statistics.states < 59049


def test_interruption_ends_the_workers() -> None:
    class Interrupting(Silent):
        def progress(self, statistics: Statistics) -> None:
            if statistics.states > 1000:
                raise KeyboardInterrupt

    before = threading.active_count()
    result = search(row("indexer-16"), 3, Interrupting())
    assert result.limits == ("interrupted",)
    assert 1000 < result.statistics.states < 59049
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [1, 2])
def test_python_looks_at_one_deadlock_only(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """Vectors are not made again on the interpreter where they contain nothing, or no news."""
    looked: list[int] = []
    standstills = VectorSchedules.standstills
    monkeypatch.setattr(
        VectorSchedules,
        "standstills",
        lambda self, position: looked.append(position) or standstills(self, position),
    )
    result = search(model(PHILOSOPHERS), workers, stop_at_first=False)
    assert result.violation is not None
    assert result.violation.kind == "deadlock"
    assert len(looked) == 1


def test_too_many_threads_are_refused() -> None:
    source = "from mazurka.model import *\ndef one():\n    yield_()\n"
    source += "threads = [one() for _ in range(65)]\n"
    with pytest.raises(UnsupportedError, match="65 threads; cartesian vectors take at most 64"):
        search(model(source), 1)


def test_depth_counts_vectors_in_a_row() -> None:
    """The first steps collide: each leads to a state, from which the other thread goes on."""
    source = """
from mazurka.model import *
x: Int[0, 2] = 0
def one():
    global x
    x = 1
def other():
    global x
    x = 2
threads = [one(), other()]
"""
    found = cartesian_search(native(model(source)), OPTIONS, Silent(), Vectors())
    statistics = found.run().statistics
    assert (statistics.states, statistics.transitions, statistics.depth) == (3, 4, 2)
    assert found.numbers[blocks.POSITION] == 3


def test_there_are_no_more_workers_than_have_room() -> None:
    program, limit = native(row("indexer-15")), 10_000_000
    options = replace(OPTIONS, tuning={"workers": 200}, limit_bytes=limit)
    together = cartesian_search(program, options, Silent(), Vectors())
    assert isinstance(together, ConcurrentSearch)
    assert 2 <= len(together.workers) < 200
    result, search_alone = together.run(), search(row("indexer-15"), 1)
    assert result.limits == ()
    assert result.statistics.peak_bytes <= limit
    assert result.statistics.states == search_alone.statistics.states
