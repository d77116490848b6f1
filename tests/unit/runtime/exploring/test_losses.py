"""What cannot be put back may make later executions fail: that is no violation of the test."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.runtime.exploring.workers import parallel
from mazurka.runtime.story.result import Result

SOURCE = """
import ctypes, hashlib, itertools, threading

class Fields(ctypes.Structure): pass
class Tried(ctypes.Structure): pass
HASH = hashlib.sha256()
PAIRS = zip("ab", "cd")
numbers = (n for n in (1, 2))

def in_threads(function, count=2):
    threads = [threading.Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

def set_fields():
    Fields._fields_ = [("x", ctypes.c_int)]

def fields_in_thread():
    in_threads(set_fields, 1)

def fields_before_threads():
    set_fields()
    in_threads(int)

def digest():
    in_threads(lambda: HASH.update(b"x"), 1)
    assert HASH.hexdigest().startswith("2d71")

def iterator():
    in_threads(lambda: next(PAIRS), 1)
    assert next(PAIRS, None)

def generator():
    in_threads(lambda: next(numbers), 1)
    assert next(numbers, None) == 2

def race_in_new_state():
    try:
        Tried._fields_ = [("x", ctypes.c_int)]
    except AttributeError:
        pass
    count = [0]
    def add():
        value = count[0]
        count[0] = value + 1
    in_threads(add)
    assert count == [2]

def lost_once():
    try:
        Tried._fields_ = [("x", ctypes.c_int)]
    except AttributeError:
        pass
    count, lock = [0], threading.Lock()
    def add():
        for _ in range(2):
            with lock:
                count[0] += 1
    in_threads(add)
    assert count == [4]

def fails_at_first():
    in_threads(lambda: HASH.update(b"x"), 1)
    assert not HASH.hexdigest(), "it always fails"
"""
LOSING = ["fields_in_thread", "fields_before_threads", "digest", "iterator", "generator"]
PUT_BACK = "executions change what cannot be put back: "


def explore(folder: Path, name: str, **options: object) -> Result:
    module: ModuleType = module_of(folder, SOURCE)
    return mazurka.explore(getattr(module, name), **{"preemptions": 2, **options})  # type: ignore[arg-type]


def is_left_open(result: Result) -> bool:
    """An error that names what was lost says as much."""
    text = f"{result.scope} {result.error}"
    return result.verdict in ("inconclusive", "error") and "cannot be put back" in text


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"strategy": "random", "executions": 5}])
@pytest.mark.parametrize("name", LOSING)
def test_what_fails_after_a_loss_is_not_violated(
    name: str, options: dict[str, object], tmp_path: Path
) -> None:
    assert is_left_open(explore(tmp_path, name, **options))


@pytest.mark.parametrize("name", LOSING)
def test_it_is_not_found_in_a_process_of_its_own_either(name: str, tmp_path: Path) -> None:
    assert is_left_open(explore(tmp_path, name, isolate=True))


def test_the_failure_is_named_that_may_come_of_it(tmp_path: Path) -> None:
    result = explore(tmp_path, "fields_in_thread")
    assert "AttributeError: _fields_ is final" in result.scope
    assert result.violation is None
    assert result.token is None


def test_what_the_first_execution_shows_is_violated(tmp_path: Path) -> None:
    result = explore(tmp_path, "fails_at_first")
    assert result.verdict == "violated", result
    assert PUT_BACK in result.scope


def test_a_failure_is_confirmed_in_the_original_state(tmp_path: Path) -> None:
    result = explore(tmp_path, "race_in_new_state")
    assert result.verdict == "inconclusive", result
    assert "explore it with isolate=True" in result.scope
    result = explore(tmp_path, "race_in_new_state", isolate=True)
    assert result.verdict == "violated", result
    assert result.token is not None


def test_what_one_exploration_loses_is_nothing_to_the_next(tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE)
    verdicts = [mazurka.explore(module.race_in_new_state, preemptions=2).verdict for _ in range(2)]
    assert verdicts == ["inconclusive", "violated"]


def test_workers_know_what_was_lost_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SCOUTING", 1)
    result = explore(tmp_path, "lost_once", workers=2)
    assert result.verdict == "inconclusive", result
    assert PUT_BACK in result.scope
    assert not result.notes, "workers have searched"
