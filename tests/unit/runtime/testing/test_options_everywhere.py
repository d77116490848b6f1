"""Decorator, marker, pytest and command take the same options, and mean the same by them."""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import get_overloads

import pytest
from click.testing import CliRunner
from tests.warm import run_warm

import mazurka
from mazurka.cli.main import app
from mazurka.errors import OptionError
from mazurka.runtime.exploring.options import ExploreOptions, override_options, read_options
from mazurka.runtime.testing.decorator import explore

NAMES = {field.name for field in fields(ExploreOptions)}
SPELLED = {"virtual_time": "real-time"}
TESTS = """\
import threading

import mazurka
import pytest


def count(threads, times):
    lock, hits = threading.Lock(), []

    def work():
        for _ in range(times):
            with lock:
                hits.append(1)

    started = [threading.Thread(target=work) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert len(hits) == threads * times


@pytest.mark.mazurka(preemptions=3)
def test_counting():
    count(3, 2)


@mazurka.explore(strategy="random", executions=5, seed=1)
def test_sampled():
    count(2, 1)
"""


def session(tmp_path: Path, *options: str) -> str:
    (tmp_path / "test_counts.py").write_text(TESTS)
    words = ("-v", "-p", "no:cacheprovider", *options)
    environment = {**os.environ, "COLUMNS": "200"}
    done = run_warm("pytest", *words, folder=tmp_path, environment=environment)
    return done.stdout + done.stderr


def test_the_decorator_declares_every_option() -> None:
    for signature in map(inspect.signature, get_overloads(explore)):
        declared = set(signature.parameters) - {"function"}
        assert declared in (set(), NAMES)


def test_the_command_has_every_option() -> None:
    text = CliRunner().invoke(app, ["test", "--help"], env={"COLUMNS": "200"}).output
    for name in NAMES:
        assert re.search(f"--{SPELLED.get(name, name).replace('_', '-')}[ ,]", text), name


def test_pytest_has_every_option(pytestconfig: pytest.Config) -> None:
    for name in NAMES:
        spelled = "real-time" if name == "virtual_time" else name
        pytestconfig.getoption(f"--mazurka-{spelled.replace('_', '-')}")


def test_workers_and_one_process_have_the_same_result(tmp_path: Path) -> None:
    alone = session(tmp_path, "--mazurka-workers", "1")
    several = session(tmp_path, "--mazurka-workers", "2")
    assert "2 passed" in alone
    assert "2 passed" in several
    assert "test_counting: holds: all executions; 90 partial orders" in alone
    assert "test_counting: holds: all executions; 90 partial orders" in several
    assert "test_sampled: inconclusive: 5 random schedules run, seed 1" in several


def test_values_of_the_command_line_come_first(tmp_path: Path) -> None:
    text = session(tmp_path, "--mazurka-strategy=pct", "--mazurka-seed=7", "--mazurka-executions=3")
    assert "test_counting: inconclusive: 3 random schedules run, seed 7" in text
    assert "test_sampled: inconclusive: 3 random schedules run, seed 7" in text


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--mazurka-workers=0", "workers must be 1 or more, not 0"),
        ("--mazurka-workers=999", "workers must be 256 or less, not 999"),
        ("--mazurka-strategy=magic", "there is no strategy 'magic'"),
        ("--mazurka-strategy=cb-dfs --mazurka-seed=5", "a seed is for random schedules"),
        ("--mazurka-seconds=0", "the time limit must be above 0 seconds"),
        ("--mazurka-patience=0", "patience must be above 0 seconds"),
        ("--mazurka-preemptions=few", "--mazurka-preemptions needs a number or none, not 'few'"),
    ],
)
def test_nonsense_ends_the_session_with_one_line(tmp_path: Path, option: str, message: str) -> None:
    text = session(tmp_path, *option.split())
    assert message in text
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text


def test_a_wrong_marker_is_told_before_any_test_runs(tmp_path: Path) -> None:
    wrong = "import pytest\n\n\n@pytest.mark.mazurka(preemptions='2')\ndef test_it():\n    pass\n"
    (tmp_path / "test_wrong.py").write_text(wrong)
    text = session(tmp_path)
    assert "test_wrong.py::test_it: preemptions must be a whole number or None, not '2'" in text
    assert "Traceback" not in text


def test_several_workers_leave_other_strategies_alone() -> None:
    sampled = ExploreOptions(strategy="random", seed=1)
    assert override_options(sampled, {"workers": 4}) == sampled
    assert override_options(ExploreOptions(workers=4), {"strategy": "pct"}).workers == 1
    with pytest.raises(OptionError, match="several workers need the strategy algorithm2"):
        override_options(ExploreOptions(), {"strategy": "pct", "workers": 4})


def test_a_bound_with_a_strategy_that_has_none_is_refused() -> None:
    for strategy in ("optimal-dpor", "source-dpor", "dpor", "sleep-sets"):
        with pytest.raises(OptionError, match=f"{strategy} has no bound on preemptions"):
            read_options({"strategy": strategy, "preemptions": 2})
        assert read_options({"strategy": strategy}).bound is None
        assert read_options({"strategy": strategy, "preemptions": None}).bound is None
    assert read_options({}).bound == read_options({"strategy": "cb-dfs"}).bound == 2


def test_a_bound_is_left_out_for_tests_whose_strategy_has_none() -> None:
    own = read_options({"strategy": "optimal-dpor"})
    assert override_options(own, {"preemptions": 3}).bound is None
    bounded = read_options({"preemptions": 3})
    assert override_options(bounded, {"strategy": "optimal-dpor"}).bound is None
    with pytest.raises(OptionError, match="no bound"):
        override_options(own, {"strategy": "dpor", "preemptions": 3})


def test_reductions_run_what_algorithm_2_runs(tmp_path: Path) -> None:
    """Three threads with two critical sections each: 6! / (2! 2! 2!) orders."""
    file = tmp_path / "test_count.py"
    file.write_text(TESTS)
    for strategy in ("optimal-dpor", "source-dpor", "dpor", "sleep-sets"):
        ran = CliRunner().invoke(
            app, ["test", f"{file}::test_counting", "--strategy", strategy, "--json"]
        )
        found = json.loads(ran.output)
        assert found["verdict"] == "holds"
        assert found["stats"]["partial_orders"] == 90
        assert found["scope"].startswith("all executions; 90 partial orders, each run once")


def test_a_seed_without_random_schedules_is_refused() -> None:
    message = "a seed is for random schedules, and the strategy algorithm2 has none: choose the"
    with pytest.raises(OptionError, match=message):
        mazurka.explore(seed=5)
    with pytest.raises(OptionError, match=message):
        ExploreOptions(seed=5)
    with pytest.raises(OptionError, match=message):
        override_options(ExploreOptions(), {"strategy": "algorithm2", "seed": 5})


def test_a_seed_is_for_the_tests_with_random_schedules(tmp_path: Path) -> None:
    sampled = ExploreOptions(strategy="random", seed=1)
    assert override_options(ExploreOptions(), {"seed": 5}) == ExploreOptions()
    assert override_options(sampled, {"seed": 5}).seed == 5
    assert override_options(sampled, {"strategy": "cb-dfs"}).seed is None
    text = session(tmp_path, "--mazurka-seed=5")
    assert "test_counting: holds: all executions; 90 partial orders" in text
    assert "test_sampled: inconclusive: 5 random schedules run, seed 5" in text


def test_modules_of_the_command_line_are_added() -> None:
    own = read_options({"leave_out": "json"})
    assert override_options(own, {"leave_out": ["queue", "json"]}).leave_out == ("json", "queue")


def test_the_option_of_former_times_says_what_has_become_of_it(tmp_path: Path) -> None:
    message = "there is no option 'instrument' any more, and none is needed: all Python code"
    with pytest.raises(OptionError, match=message):
        mazurka.explore(instrument=["json"])
    assert message in session(tmp_path, "--mazurka-instrument=json")


def test_the_command_to_replay_repeats_what_the_token_does_not_hold() -> None:
    def program() -> None:
        raise ValueError("always")

    result = mazurka.explore(program, leave_out=["json"], virtual_time=False)
    assert result.token is not None
    assert f"mazurka replay {result.token} --leave-out json --real-time" in result.report()


RACE = """\
import threading


class Box:
    value = 0


def test_race():
    box = Box()
    box.value = 0

    def write():
        box.value = 1

    thread = threading.Thread(target=write)
    thread.start()
    box.value = 2
    thread.join()
"""


def test_a_race_is_replayed_without_being_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racing.py").write_text(RACE)
    runner = CliRunner()
    found = json.loads(runner.invoke(app, ["test", "racing.py", "--races", "--json"]).stdout)
    assert found["violation"]["kind"] == "race"
    again = runner.invoke(app, ["replay", found["replay"]])
    assert "violated: race" in again.output
