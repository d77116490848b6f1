"""`mazurka.explore`: the decorator, the function, and what they say of known programs."""

from __future__ import annotations

import itertools
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any

import pytest
from tests.limits import ENOUGH
from tests.unit.runtime.concurrent_programs import (
    PROGRAMS,
    Known,
    lock_order,
    module_lock_kept,
    run,
)

import mazurka
from mazurka.errors import OptionError
from mazurka.runtime.testing.decorator import run_case

BAD = [known for known in PROGRAMS if known.kind is not None]
GOOD = [known for known in PROGRAMS if known.kind is None]


def name_of(known: Known) -> str:
    return known.program.__name__


@pytest.mark.parametrize("known", GOOD, ids=name_of)
def test_right_programs_hold(known: Known) -> None:
    result = mazurka.explore(known.program, preemptions=2)
    assert result.verdict == "holds", result.report()
    assert result.exit_status == 0
    assert result.scope.startswith("all executions")
    assert result.partial_orders == result.executions >= 1


@pytest.mark.parametrize("known", BAD, ids=name_of)
def test_wrong_programs_fail_with_the_fewest_preemptions(known: Known) -> None:
    result = mazurka.explore(known.program, preemptions=2)
    assert result.verdict == "violated", result.report()
    assert result.violation is not None
    assert result.violation.kind == known.kind
    assert result.story is not None
    assert result.story.preemptions == known.preemptions
    assert result.exit_status == 1


@pytest.mark.parametrize("known", [known for known in BAD if known.preemptions], ids=name_of)
def test_failures_need_their_preemptions(known: Known) -> None:
    result = mazurka.explore(known.program, preemptions=known.preemptions - 1)
    assert result.verdict == "holds"
    assert result.scope.startswith("all executions without preemptions")


@pytest.mark.parametrize("strategy", ["algorithm2", "algorithm1", "cb-dfs"])
def test_every_search_gives_the_same_verdicts(strategy: str) -> None:
    assert mazurka.explore(lock_order, strategy=strategy).verdict == "violated"
    assert mazurka.explore(module_lock_kept, strategy=strategy).verdict == "holds"


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_random_schedules_find_and_never_claim(strategy: str) -> None:
    found = mazurka.explore(lock_order, strategy=strategy, seed=1, executions=200)
    assert found.verdict == "violated"
    assert found.story is not None
    assert found.story.preemptions == 1, "the schedule has been minimized"
    passed = mazurka.explore(module_lock_kept, strategy=strategy, seed=7, executions=20)
    assert passed.verdict == "inconclusive"
    assert passed.limits == ("unsound-strategy",)
    assert "seed 7" in passed.scope
    assert passed.executions == 20


def test_the_seed_is_told_where_it_is_drawn() -> None:
    result = mazurka.explore(module_lock_kept, strategy="random", executions=1)
    assert result.seed is not None
    assert f"seed {result.seed}" in result.report()


def test_the_decorated_function_explores_when_it_is_called() -> None:
    @mazurka.explore(preemptions=1)
    def test_bad() -> None:
        lock_order()

    with pytest.raises(mazurka.ExplorationFailure) as caught:
        test_bad()
    assert isinstance(caught.value, AssertionError)
    assert "now nobody can go on" in str(caught.value)
    assert test_bad.__name__ == "test_bad"


def test_the_decorator_needs_no_options() -> None:
    @mazurka.explore
    def test_good() -> None:
        module_lock_kept()

    assert test_good().verdict == "holds"


def test_arguments_are_passed_on() -> None:
    seen = set()

    @mazurka.explore(preemptions=0)
    def test_with(one: int, *, two: int) -> None:
        seen.add((one, two))

    assert test_with(1, two=2)
    assert seen == {(1, 2)}


class Sample(unittest.TestCase):
    """Used by the test below, and small enough to pass as it is."""

    __test__ = False

    def setUp(self) -> None:
        self.steps = ["setUp"]
        self.addCleanup(lambda: self.steps.append("cleanup"))

    def tearDown(self) -> None:
        assert self.steps == ["setUp", "test"]

    @mazurka.explore(preemptions=0)
    def test_fresh(self) -> None:
        self.steps.append("test")
        lock = threading.Lock()

        def work() -> None:
            with lock:
                pass

        run(work, work)

    @mazurka.explore(preemptions=0)
    def test_wrong(self) -> None:
        self.steps.append("test")
        self.steps.append("again")


def test_a_case_is_set_up_for_each_execution() -> None:
    Sample("test_fresh").test_fresh()
    with pytest.raises(mazurka.ExplorationFailure, match=r"self\.steps == "):
        Sample("test_wrong").test_wrong()


class Untidy(unittest.TestCase):
    """Its clean-ups fail, all but the one that runs last."""

    __test__ = False

    def setUp(self) -> None:
        self.ran: list[str] = []
        self.addCleanup(self.ran.append, "last")
        self.addCleanup(self.fail, "second clean-up")
        self.addCleanup(self.fail, "first clean-up")

    def test_tidy(self) -> None:
        pass

    def test_failing(self) -> None:
        self.fail("the test itself")


@pytest.mark.parametrize(
    ("function", "told"),
    [(Untidy.test_tidy, "first clean-up"), (Untidy.test_failing, "the test itself")],
)
def test_all_clean_ups_of_a_case_run_and_the_first_failure_is_told(
    function: Callable[[Untidy], None], told: str
) -> None:
    case = Untidy(function.__name__)
    with pytest.raises(AssertionError, match=told):
        run_case(case, function, (), {})
    assert case.ran == ["last"]


def test_levels_are_reported() -> None:
    result = mazurka.explore(lock_order, preemptions=2)
    assert [level.bound for level in result.levels] == [0, 1]
    assert [level.complete for level in result.levels] == [True, False]


def test_limits_make_it_inconclusive() -> None:
    result = mazurka.explore(module_lock_kept, executions=1, preemptions=2)
    assert result.verdict == "inconclusive"
    assert result.exit_status == 3
    assert result.limits


def test_the_json_object_has_the_promised_keys() -> None:
    shown = mazurka.explore(lock_order, preemptions=2).to_json()
    assert {"tool", "version", "input", "verdict", "scope", "property", "strategy", "stats"} <= set(
        shown
    )
    assert {"violation", "trace", "limits", "error"} <= set(shown)
    stats, trace, violation = shown["stats"], shown["trace"], shown["violation"]
    assert isinstance(stats, dict)
    assert isinstance(trace, list)
    assert isinstance(violation, dict)
    assert stats["executions"] == stats["partial_orders"]
    assert {"thread", "file", "line", "source", "reads", "writes", "choice"} <= set(trace[0])
    assert violation["kind"] == "deadlock"
    assert shown["error"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "best"}, "there is no strategy 'best'"),
        ({"preemptions": -1}, "preemptions must be 0 or more"),
        ({"executions": 0}, "executions must be 1 or more"),
        ({"seconds": 0.0}, "above 0 seconds"),
        ({"bound": 2}, "there is no option 'bound'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        mazurka.explore(module_lock_kept, **options)


def test_coroutines_are_refused() -> None:
    async def waits() -> None:
        pass

    with pytest.raises(OptionError, match="coroutine"):
        mazurka.explore(waits, preemptions=1)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_returns_a_coroutine_has_not_run(workers: int) -> None:
    async def waits() -> None:
        raise AssertionError

    result = mazurka.explore(lambda: waits(), preemptions=1, workers=workers)
    assert result.verdict == "error"
    assert "the test returns an object of type coroutine, whose code has not run" in str(
        result.error
    )
    assert mazurka.explore(lambda: iter([1]), preemptions=1).verdict == "holds"
    assert mazurka.explore(lambda: (n for n in [1]), preemptions=1).verdict == "error"


def test_a_decorated_test_that_returns_a_coroutine_fails() -> None:
    async def waits() -> None:
        raise AssertionError

    @mazurka.explore
    def returns() -> object:
        return waits()

    with pytest.raises(mazurka.ExplorationFailure, match="has not run"):
        returns()


def test_a_test_without_source_is_an_error() -> None:
    namespace: dict[str, object] = {"__name__": "made_up"}
    exec("def scenario():\n    pass\n", namespace)
    result = mazurka.explore(namespace["scenario"], preemptions=0)
    assert result.verdict == "error"
    assert "nothing of this test can be observed" in str(result.error)


def test_threading_is_as_before() -> None:
    before = (threading.Lock, threading.Thread.start, threading.Condition.wait)
    mazurka.explore(lock_order, preemptions=2)
    assert (threading.Lock, threading.Thread.start, threading.Condition.wait) == before
    with pytest.raises(KeyboardInterrupt):
        mazurka.explore(interrupted, preemptions=0)
    assert (threading.Lock, threading.Thread.start, threading.Condition.wait) == before


def interrupted() -> None:
    raise KeyboardInterrupt


def test_an_uncontrolled_call_is_an_error_with_a_stack() -> None:
    import subprocess
    import sys

    def blocks() -> None:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(3)"], check=False)

    result = mazurka.explore(blocks, preemptions=0, patience=0.5)
    assert result.verdict == "error"
    assert "not under control" in str(result.error)
    assert "test_explore.py" in str(result.error)


class Awaiting(unittest.IsolatedAsyncioTestCase):
    """A case whose set-up and tear-down are coroutines."""

    def setUp(self) -> None:
        self.order = ["setUp"]

    async def asyncSetUp(self) -> None:
        self.order.append("asyncSetUp")
        self.addAsyncCleanup(self.clean)

    async def asyncTearDown(self) -> None:
        self.order.append("asyncTearDown")

    async def clean(self) -> None:
        assert self.order[-1] == "asyncTearDown"

    @mazurka.explore(preemptions=1)
    def test_it(self) -> None:
        thread = threading.Thread(target=threading.Lock().locked)
        thread.start()
        thread.join()
        assert self.order == ["setUp", "asyncSetUp"]


def test_coroutines_of_a_case_set_it_up() -> None:
    result = unittest.TestResult()
    Awaiting("test_it").run(result)
    assert result.wasSuccessful(), result.errors + result.failures


# -- the usual limit -----------------------------------------------------------------------------


def sections() -> None:
    lock, done = threading.Lock(), []

    def add() -> None:
        for _ in range(3):
            with lock:
                done.append(1)

    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def use_up_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processor's clock advance by more than a limit whenever it is read."""
    ticks = itertools.count()
    monkeypatch.setattr(time, "process_time", lambda: next(ticks) * 2 * ENOUGH)


@pytest.mark.usual_limits
def test_a_search_ends_if_nobody_gives_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    use_up_time(monkeypatch)
    result = mazurka.explore(sections, preemptions=2)
    assert (result.verdict, result.limits) == ("inconclusive", ("processor time",))
    assert "the 12 s of processor time were over" in result.scope
    assert "seconds=60 allows more" in result.scope
    with pytest.raises(mazurka.ExplorationFailure, match="processor time were over"):
        mazurka.explore(preemptions=2)(sections)()


@pytest.mark.usual_limits
def test_nobody_waits_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that waits takes no time of the processor."""
    ticks, real = itertools.count(step=3), time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: real() + next(ticks))
    result = mazurka.explore(sections, preemptions=2)
    assert (result.verdict, result.limits) == ("inconclusive", ("waiting time",))
    assert "60 s had passed" in result.scope
    assert "seconds=300 allows more" in result.scope


@pytest.mark.usual_limits
@pytest.mark.parametrize("given", [{"seconds": None}, {"seconds": 600}, {"executions": 9999}])
def test_limits_that_are_given_replace_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    use_up_time(monkeypatch)
    assert mazurka.explore(sections, preemptions=1, **given).verdict == "holds"
