"""Mutants of observing code on demand: each loses a failure in a module of no project."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite import live_functions
from mazurka.runtime.rewrite.live_functions import LiveFunctions
from mazurka.runtime.rewrite.on_demand import Entrances
from mazurka.runtime.testing.decorator import make_test
from tests.unit.runtime.observed_programs import module_of

LOST = INCONCLUSIVE if hasattr(sys, "monitoring") else HOLDS
"""From Python 3.12 on, the interpreter tells what begins without being observed."""
AWAY = """
class Box:
    n = 0
    def __iadd__(self, n):
        self.n = self.n + n
        return self
"""
PROGRAM = """
import threading
from {away} import Box
def program():
    box = Box()
    def work():
        mine = box
        mine += 1
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box.n == 2
"""


def verdict_of(folder: Path) -> str:
    away = module_of(folder, AWAY)
    gc.collect()  # its functions are old
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    module = module_of(project, PROGRAM.replace("{away}", away.__name__))
    test = make_test(module.program, module.program)
    return explore_test(test, ExploreOptions(preemptions=1)).verdict


def test_the_failure_is_found(tmp_path: Path) -> None:
    assert verdict_of(tmp_path) == VIOLATED


def watch_nothing(self: Entrances, space: dict[str, Any]) -> frozenset[str]:
    return frozenset()


@pytest.mark.parametrize(
    ("name", "mutant"),
    [("_parts_to_watch", watch_nothing), ("_meet", id)],  # the latter makes nothing of a function
)
def test_without_it_the_failure_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mutant: Any
) -> None:
    monkeypatch.setattr(Entrances, name, mutant)
    assert verdict_of(tmp_path) == LOST


def look_at_young_objects(self: LiveFunctions, *then: Any) -> None:
    self._look_among(live_functions._YOUNG, then, is_everything=True)


def test_if_only_young_objects_are_looked_at_the_failure_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveFunctions, "_look", look_at_young_objects)
    assert verdict_of(tmp_path) == LOST
