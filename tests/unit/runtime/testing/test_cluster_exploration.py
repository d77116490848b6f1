"""`mazurka test --cluster`: the same result as of one process, whatever happens to workers.

The workers are called up in this process; the processes that they start for the test are real.
`tests/unit/stateful/test_ray_cluster.py` has Ray.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mazurka.cluster.crew import ClusterCrew, LostWorkerError
from mazurka.deadline import TimeLimitError, check_time
from mazurka.errors import OptionError
from mazurka.extras import MODELS
from mazurka.report.answer import ERROR, HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions, override_options
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.cluster import exploration
from mazurka.runtime.testing.cluster.exploration import (
    DIVIDED,
    ClusterExploration,
    ClusterRequest,
    TestBranches,
    explore_on_cluster,
)
from mazurka.runtime.testing.cluster.process import BranchAnswer, BranchTask
from mazurka.runtime.testing.cluster.worker import BranchExplorer, failed
from mazurka.runtime.testing.collecting import collect
from mazurka.search import LOST_WORKER
from mazurka.stateless.branches import Branch
from mazurka.stateless.explored import TIME, Explored

if not MODELS.is_installed:
    pytest.skip("the crew of these tests is that of searches of models", allow_module_level=True)

from tests.soundness.cluster_searches import LocalCrew

TEXT = """
import threading

def run(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def count(rounds):
    box = {"total": 0}
    def work():
        for _ in range(rounds):
            box["total"] += 1
    run(work, work)
    return box["total"]

def test_holds():
    assert count(2) >= 2

def test_loses():
    assert count(2) > 2

def test_writes():
    def work():
        with open("written.txt", "a") as file:
            file.write("x")
    run(work, work)
"""


class HereExploration(ClusterExploration):
    """Has its workers in this process."""

    size = 2
    lost_after: int | None = None

    @contextmanager
    def open_crew(self) -> Iterator[ClusterCrew]:
        explorers = [BranchExplorer() for _ in range(self.size)]
        crew = LocalCrew(explorers)
        real = crew.ask

        def ask(worker: int, method: str, *given: Any, answers: int = 1) -> list[Any]:
            if method == "explore" and self.lost_after is not None:
                self.lost_after -= 1
                if self.lost_after < 0:
                    crew.lost.add(1)
            return real(worker, method, *given, answers=answers)

        crew.ask = ask  # type: ignore[method-assign]
        try:
            yield crew
        finally:
            for explorer in explorers:
                explorer.end()


class OneWorker(HereExploration):
    size = 1


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tests, and no scouting: all runs but one are the workers'."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exploration, "SCOUTING", 1)
    path = tmp_path / "test_counting_on_a_cluster.py"
    path.write_text(TEXT)
    return path


def explore(file: Path, name: str, strategy: str, kind: type[HereExploration] | None) -> Result:
    """Explore a test by a kind of cluster, or in this process."""
    target, given = f"{file.name}::{name}", {"strategy": strategy}
    (found,) = collect(target)
    options = ExploreOptions(strategy=strategy)
    if kind is None:
        return explore_test(found.test, options)
    result = Result(input=found.test.name, verdict=ERROR)
    request = ClusterRequest("auto", 2, target, given)
    assert kind(request, found.test, options, result).has_run()
    return result


@pytest.mark.parametrize("strategy", [DIVIDED[0], DIVIDED[-1]])
def test_each_partial_order_is_run_once(file: Path, strategy: str) -> None:
    alone = explore(file, "test_holds", strategy, None)
    found = explore(file, "test_holds", strategy, HereExploration)
    assert (found.verdict, found.limits, found.error) == (HOLDS, (), None)
    assert found.partial_orders == alone.partial_orders
    assert alone.partial_orders is not None
    assert alone.partial_orders > 1


def test_a_failure_is_told_as_that_of_one_process(file: Path) -> None:
    alone = explore(file, "test_loses", "source-dpor", None)
    found = explore(file, "test_loses", "source-dpor", HereExploration)
    assert (found.verdict, found.error) == (VIOLATED, None)
    assert alone.violation is not None
    assert found.violation is not None
    assert found.violation.message == alone.violation.message
    assert found.token is not None


def test_a_lost_worker_leaves_it_open(file: Path) -> None:
    class Losing(HereExploration):
        lost_after = 2

    found = explore(file, "test_holds", "source-dpor", Losing)
    assert (found.verdict, found.limits) == (INCONCLUSIVE, (LOST_WORKER,))


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (TimeLimitError("while starting a cluster"), TIME),
        (LostWorkerError("gone"), LOST_WORKER),
    ],
)
def test_what_was_scouted_is_told_if_no_worker_begins(
    file: Path, error: Exception, limit: str
) -> None:
    class Missing(HereExploration):
        @contextmanager
        def open_crew(self) -> Iterator[ClusterCrew]:
            raise error
            yield

    found = explore(file, "test_holds", "source-dpor", Missing)
    assert (found.verdict, found.limits, found.error) == (INCONCLUSIVE, (limit,), None)
    assert found.executions == 1  # as many as `SCOUTING`


@pytest.mark.parametrize(
    ("executions", "limits", "told"), [(2, (), 2), (2, ("time",), 5), (7, ("time",), 7)]
)
def test_only_of_a_search_that_was_cut_short_less_is_told(
    file: Path, executions: int, limits: tuple[str, ...], told: int
) -> None:
    """What this process has seen alone is never taken for all there is."""
    (one,) = collect(f"{file.name}::test_holds")
    request = ClusterRequest("auto", 2, f"{file.name}::test_holds", {"strategy": "source-dpor"})
    result = Result(input=one.test.name, verdict=ERROR)
    options = ExploreOptions(strategy="source-dpor")
    whole = ClusterExploration(request, one.test, options, result)
    whole.scouted = Explored(executions=5)
    found = whole.choose_told(Explored(executions=executions, limits=limits))
    assert (found.executions, found.limits) == (told, limits)


def test_the_time_limit_holds_while_a_cluster_starts(file: Path) -> None:
    class Slow(HereExploration):
        @contextmanager
        def open_crew(self) -> Iterator[ClusterCrew]:
            while True:
                check_time("starting a cluster")
            yield

    target = f"{file.name}::test_holds"
    (one,) = collect(target)
    result = Result(input=one.test.name, verdict=ERROR)
    options = ExploreOptions(strategy="source-dpor", seconds=0.5)
    request = ClusterRequest("auto", 2, target, {"strategy": "source-dpor"})
    assert Slow(request, one.test, options, result, None, time.perf_counter()).has_run()
    assert (result.verdict, result.limits) == (INCONCLUSIVE, (TIME,))


def test_workers_get_the_options_of_the_command(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker makes of its task are the options of the one who asks, but for the time."""
    tasks: list[BranchTask] = []

    def note(explorer: BranchExplorer, task: BranchTask) -> BranchAnswer:
        tasks.append(task)
        return failed("enough")

    monkeypatch.setattr(BranchExplorer, "begin", note)
    target = f"{file.name}::test_holds"
    given = {"races": True, "leave_out": ("json",), "max_steps": 900, "virtual_time": False}
    (one,) = collect(target)
    options = override_options(ExploreOptions(), given)
    request, chosen = ClusterRequest("auto", 2, target, given).choose(options)
    result = Result(input=one.test.name, verdict=ERROR)
    assert HereExploration(request, one.test, replace(chosen, races=False), result).has_run()
    assert {(task.target, task.directory) for task in tasks} == {(target, str(Path.cwd()))}
    assert override_options(ExploreOptions(), dict(tasks[0].given)) == chosen
    assert chosen == replace(options, strategy=DIVIDED[0])


def test_a_dead_process_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = BranchExplorer.explore

    def die(explorer: BranchExplorer, branch: Branch, seconds: float | None) -> Any:
        assert explorer.process is not None
        explorer.process.kill()
        return real(explorer, branch, seconds)

    monkeypatch.setattr(BranchExplorer, "explore", die)
    found = explore(file, "test_holds", "source-dpor", OneWorker)
    assert found.verdict == ERROR
    assert "has ended unexpectedly" in str(found.error)


def test_another_file_on_a_machine_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "digest_of", lambda path: "another")
    found = explore(file, "test_holds", "source-dpor", OneWorker)
    assert found.verdict == ERROR
    assert "the same directory on all machines" in str(found.error)


def test_a_branch_that_is_left_out_would_be_noticed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(TestBranches):
        def find_branches(self, wanted: int) -> list[Branch]:
            return super().find_branches(wanted)[1:]

    monkeypatch.setattr(exploration, "TestBranches", Forgetful)
    alone = explore(file, "test_holds", "source-dpor", None)
    found = explore(file, "test_holds", "source-dpor", OneWorker)
    assert found.partial_orders != alone.partial_orders


def test_tests_that_change_files_are_left_to_one_process(file: Path) -> None:
    target = f"{file.name}::test_writes"
    (one,) = collect(target)
    result = Result(input=one.test.name, verdict=ERROR)
    request = ClusterRequest("auto", 2, target, {"strategy": "source-dpor"})
    options = ExploreOptions(strategy="source-dpor")
    assert not HereExploration(request, one.test, options, result).has_run()
    assert result.notes[-1] == "explored by one process: it changes files"


@pytest.mark.parametrize("strategy", ["algorithm2", "optimal-dpor", "random"])
def test_strategies_that_cannot_be_divided_are_refused(strategy: str) -> None:
    request = ClusterRequest("auto", 2, "test_some.py", {"strategy": strategy})
    with pytest.raises(OptionError, match="choose source-dpor, dpor or sleep-sets, or leave"):
        request.refuse(ExploreOptions(strategy=strategy))


def test_without_a_strategy_one_is_chosen_that_can_be_divided(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploration, "ClusterExploration", HereExploration)
    (found,) = collect(f"{file.name}::test_holds")
    request = ClusterRequest("auto", 2, f"{file.name}::test_holds", {})
    result = explore_on_cluster(request, found.test, ExploreOptions())
    assert (result.verdict, result.strategy, result.error) == (HOLDS, DIVIDED[0], None)
    assert result.partial_orders == explore(file, "test_holds", DIVIDED[0], None).partial_orders


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (ExploreOptions(preemptions=1), "--preemptions 1"),
        (ExploreOptions(timeouts="last-resort"), "--timeouts last-resort"),
    ],
)
def test_a_bound_that_somebody_has_chosen_is_kept(
    file: Path, options: ExploreOptions, what: str
) -> None:
    (found,) = collect(f"{file.name}::test_holds")
    request = ClusterRequest("auto", 2, f"{file.name}::test_holds", {})
    with pytest.raises(OptionError, match=f"{what} leaves some out"):
        explore_on_cluster(request, found.test, options)


def test_a_test_that_one_process_has_done_needs_no_cluster(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploration, "SCOUTING", 300)
    found = explore(file, "test_holds", "source-dpor", HereExploration)
    assert (found.verdict, found.notes) == (HOLDS, (exploration.NOT_NEEDED,))
