"""Search by a real cluster of two Ray nodes on this machine."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.soundness.shared_searches import EVERYTHING, Search, difference
from tests.unit.ir.programs import Builder, crossed_locks, modular_counters, put

from mazurka.cluster.connection import Connection, HiredCrew, require_answer
from mazurka.cluster.ray_crew import import_ray
from mazurka.cluster.supervisor import find_descendants, has_processes_listed
from mazurka.errors import MazurkaError, OptionError
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import LOST_WORKER, SearchOptions, SearchResult, Silent, Statistics
from mazurka.search.registry import load_strategy
from mazurka.stateful.cluster.part import PartOptions, StatePart
from mazurka.stateful.cluster.search import ClusterSearch
from mazurka.stateful.searches import conduct
from mazurka.stateful.strategies.full import STRATEGY

# Ray is imported by the tests that need it: it puts a factory of its own into `logging`, whose
# records other tests in this process would meet.
pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None,
        reason="Ray is not installed: pip install 'mazurka-check[ray]'",
    ),
    pytest.mark.filterwarnings("ignore"),  # what Ray warns of is for Ray to mend
]

STORE_BYTES = 80 << 20
"""The least that a node of Ray accepts, or little more."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster of two nodes, with one processor each."""
    factory = logging.getLogRecordFactory()
    import_ray()
    from ray.cluster_utils import Cluster

    os.environ["RAY_AUTH_MODE"] = "disabled"  # the cluster of the test asks for no token

    node = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    try:
        with Connection(cluster.address, 2, Silent()):
            yield cluster.address
    finally:
        cluster.shutdown()
        del os.environ["RAY_AUTH_MODE"]
        logging.setLogRecordFactory(factory)


@pytest.fixture(autouse=True)
def small_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both workers take part in the smallest searches."""
    monkeypatch.setattr(ClusterSearch, "shared_level", 1)


@pytest.fixture
def connection(address: str) -> Connection:
    return Connection(address, 2, Silent())


def on_cluster(address: str) -> Search:
    def search(program: Program, options: SearchOptions) -> SearchResult:
        tuning = {"cluster": address}
        found = STRATEGY.run(program, replace(options, tuning=tuning), Silent())
        *notes, last = found.notes
        assert last == "searched by 2 workers on 2 machines of a cluster"
        return replace(found, notes=tuple(notes))

    return search


def test_a_cluster_changes_nothing(address: str) -> None:
    """There is a deadlock: whole searches have the same counts, and the way to it is as short."""
    assert difference(crossed_locks(), on_cluster(address)) is None


def test_schedules_are_shared_out(address: str) -> None:
    """Of three threads that write one cell each order is a partial order: 3! of them."""
    builder = Builder()
    cell = builder.shared("x", 0, 3)
    for number in range(3):
        builder.thread().line(put(cell, number + 1))
    options = replace(EVERYTHING, properties=frozenset({"assert"}), order="dfs")
    strategy = load_strategy("source-dpor")
    found = strategy.run(builder.program(), replace(options, tuning={"cluster": address}), Silent())
    assert (found.statistics.executions, found.limits) == (6, ())
    assert found.notes == ("searched by 2 workers on 2 machines of a cluster",)


def find_workers() -> list[int]:
    """The processes of the workers: the nodes are started by this process."""
    named = {process: Path(f"/proc/{process}/cmdline") for process in find_descendants(os.getpid())}
    return [
        process
        for process, path in named.items()
        if path.exists() and path.read_bytes().startswith(b"ray::WorkerActor")
    ]


class Killer(Silent):
    """Kills a worker when the search has told of some progress."""

    killed = 0

    def progress(self, statistics: Statistics) -> None:
        if statistics.states > 1 and not self.killed:
            self.killed = find_workers()[-1]
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.skipif(not has_processes_listed(), reason="nobody tells which process is a worker")
def test_killing_a_worker_leaves_it_open(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conduct, "FIRST_SLICE", 16)
    program, killer = modular_counters(4, 9), Killer()
    asked = PartOptions(
        properties=EVERYTHING.properties, symmetry=False, limit_bytes=1 << 24, parts=2
    )
    given = lambda post: (replace(program), asked, post.number)  # noqa: E731
    with HiredCrew(connection, 2, StatePart, given, Silent()) as crew:
        result = ClusterSearch(native(program), EVERYTHING, killer, crew).run()
    assert killer.killed
    assert (result.limits, result.violation) == ((LOST_WORKER,), None)
    assert result.statistics.states < 9**4


@pytest.mark.parametrize(
    ("address", "message"),
    [("nowhere", "give auto, or HOST:PORT"), ("127.0.0.1:9", "nobody answers there")],
)
def test_an_address_without_a_cluster_is_refused(address: str, message: str) -> None:
    with pytest.raises(MazurkaError, match=message):
        require_answer(address)


def test_more_workers_than_processors_are_refused(address: str) -> None:
    options = replace(EVERYTHING, tuning={"cluster": address, "workers": 3})
    with pytest.raises(OptionError, match="the cluster has 2 processors"):
        STRATEGY.run(crossed_locks(), options, Silent())
