"""What is known of the functions of the process, however they have come there since."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.report.answer import VIOLATED
from mazurka.runtime.core.collection import collection, is_frozen
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite import live_functions as live_module
from mazurka.runtime.rewrite.live_functions import LiveFunctions, live_functions
from mazurka.runtime.sharing.monitoring import ENDS_LATE
from mazurka.runtime.testing.decorator import make_test

held: list[Any] = []


@pytest.fixture(autouse=True)
def _holding_nothing() -> Iterator[None]:
    gc.disable()  # collections are part of what is tried
    yield
    held.clear()
    gc.enable()


def make() -> Callable[[], None]:
    def inner() -> None:
        """Do nothing."""

    return inner


class Phoenix:
    """Brings a function back to life that has died with it."""

    def __init__(self) -> None:
        self.function, self.itself = make(), self

    def __del__(self) -> None:
        held.append(self.function)


def bring_back(generation: int) -> None:
    Phoenix()
    gc.collect(generation)
    assert held


def keep_one() -> None:
    held.append(make())


def freeze_and_thaw() -> None:
    keep_one()
    gc.freeze()
    gc.unfreeze()


def explore_nothing() -> None:
    keep_one()
    explore_test(make_test(keep_one, keep_one), ExploreOptions())


EVENTS: dict[str, Callable[[], object]] = {
    "none": keep_one,
    "youngest collected": lambda: (keep_one(), gc.collect(0)),
    "young collected": lambda: (keep_one(), gc.collect(1), keep_one()),
    "all collected": lambda: (keep_one(), gc.collect(), keep_one()),
    "frozen and not": freeze_and_thaw,
    "back to life, young": lambda: bring_back(0),
    "back to life, older": lambda: bring_back(1),
    "explored": explore_nothing,
    "generator": lambda: held.append(one for one in "ab"),
    "cache": lambda: held.append(lru_cache(make())),
}


@pytest.mark.parametrize("is_young", [True, False])
@pytest.mark.parametrize("event", EVENTS)
def test_all_that_is_new_is_found(event: str, is_young: bool) -> None:
    """Whatever has been collected since the last look, and between two functions."""
    live_functions.refresh()
    if not is_young:
        gc.collect(0)
    EVENTS[event]()
    live_functions.refresh()
    known = [live() for live in live_functions.of_namespace(globals())]
    for function in held:
        assert type(function) is not FunctionType or any(one is function for one in known)
    if event == "generator":
        assert any(one is held[0] for one in live_functions.generators())
    if event == "cache":
        assert id(held[0].__wrapped__) in live_functions.cached_functions()


def require_all_known(live: LiveFunctions) -> None:
    known = {id(one()) for _, group in live.by_namespace() for one in group.values()}
    things = gc.get_objects()
    assert [one for one in things if type(one) is FunctionType and id(one) not in known] == []


def test_what_is_frozen_is_found() -> None:
    live = LiveFunctions()
    keep_one()
    gc.freeze()
    try:
        live.refresh()
        assert is_frozen()
    finally:
        gc.unfreeze()
    require_all_known(live)


def test_what_is_put_aside_was_looked_at() -> None:
    live = LiveFunctions()
    for _ in range(2):
        keep_one()
        collection.pause(live.put_aside)
        try:
            assert is_frozen()
            keep_one()
            live.refresh()
        finally:
            collection.resume()
        require_all_known(live)


def test_what_has_died_is_forgotten() -> None:
    live = LiveFunctions()
    function: Any = make()
    live.refresh()
    known = {id(one()) for one in live.of_namespace(globals())}
    own = {id(function), id(getattr(function, "__annotate__", function))}  # from Python 3.14 on
    assert own <= known
    del function
    assert {id(one()) for one in live.of_namespace(globals())} == known - own


def test_functions_that_runs_make_do_not_accumulate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "SOME", 10)
    live = LiveFunctions()
    for _ in range(100):
        function: Any = make()
        live.know(function)
    assert live.added() == [function]
    assert live.take_fresh() == [function]
    assert live.take_fresh() == []
    assert len(live._added) <= 10


@pytest.mark.skipif(ENDS_LATE, reason="free-threaded interpreters know no generations")
def test_only_new_objects_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    select = live_module._select
    monkeypatch.setattr(
        live_module, "_select", lambda things: looked.append(len(things)) or select(things)
    )
    live = LiveFunctions()
    live.refresh()
    gc.collect(0)
    live.refresh()
    assert looked[-1] * 4 < looked[-2]


AWAY = """
class Box:
    n = 0
"""
PROGRAM = """
import threading
import {away} as away
def program():
    box = away.Box()
    key = {"key": away.add}
    threads = [threading.Thread(target=sorted, args=([box],), kwargs=key) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box.n == 2
"""


@pytest.mark.parametrize("generation", [None, 0, 2])
def test_functions_made_between_two_explorations_are_observed(
    generation: int | None, tmp_path: Path
) -> None:
    """Only C code calls this one, so nothing but its trap can tell of it."""
    away = module_of(tmp_path, AWAY)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    module = module_of(project, PROGRAM.replace("{away}", away.__name__))
    test = make_test(module.program, module.program)
    exec("def add(box):\n    box.n = 0", vars(away))
    explore_test(test, ExploreOptions(preemptions=1))
    exec("def add(box):\n    n = box.n\n    box.n = n + 1\n    return n", vars(away))
    if generation is not None:
        gc.collect(generation)
    assert explore_test(test, ExploreOptions(preemptions=1)).verdict == VIOLATED


def test_an_exploration_leaves_no_functions_behind() -> None:
    def program() -> None:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    counts = []
    for _ in range(3):
        mazurka.explore(program, preemptions=1)
        live_functions.refresh()
        counts.append(len(list(live_functions.by_namespace())))
    assert counts[1] == counts[2]
