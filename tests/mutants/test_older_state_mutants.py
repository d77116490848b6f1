"""Deliberately broken ways to put back what runs change in objects that are older than they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from mazurka.runtime.exploring.losses import Losses
from mazurka.runtime.primitives.event import EventModel
from mazurka.runtime.sharing import older_state as module_of_older_state
from mazurka.runtime.sharing.kept_by_c import OlderInC
from mazurka.runtime.sharing.older_state import Holding, OlderState
from mazurka.runtime.sharing.older_whole import OlderWhole
from tests.unit.runtime.exploring import test_losses
from tests.unit.runtime.observed_programs import module_of
from tests.unit.runtime.sharing import test_captured, test_put_back
from tests.unit.runtime.sharing.test_older_state import LAZY

put_back = Holding.put_back


def elements_stay(self: Holding, thing: Any, touched: Any, *, whole: bool = False) -> None:
    self.elements = None
    put_back(self, thing, touched, whole=whole)


def variables_stay(self: Holding, thing: Any, touched: Any, *, whole: bool = False) -> None:
    self.variables = Holding(thing).variables
    put_back(self, thing, ())


def nothing_is_met(self: OlderState, thing: Any) -> None:
    """Copy nothing."""


MUTANTS: dict[str, list[tuple[type, str, Any]]] = {
    "elements stay": [(Holding, "put_back", elements_stay)],
    "variables stay": [(Holding, "put_back", variables_stay)],
    "nothing is copied": [(OlderState, "meet", nothing_is_met)],
}


def misses_a_race(folder: Path) -> bool:
    module = module_of(folder, LAZY)
    for name in ("of_module", "of_table"):
        get = getattr(module, name)

        def test(get: Any = get) -> None:
            module.run(get)

        test.__module__ = module.__name__
        if explore(test, preemptions=2).verdict != "violated":
            return True
    return False


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, attribute, value in MUTANTS[name]:
        monkeypatch.setattr(owner, attribute, value, raising=False)
    assert misses_a_race(tmp_path)


def test_the_original_is_not(tmp_path: Path) -> None:
    assert not misses_a_race(tmp_path)


def nothing_happens(self: Any, *given: Any) -> None:
    """Put nothing back, and note nothing."""


NOT_PUT_BACK: dict[str, tuple[Any, str]] = {
    "event": (EventModel, "restore"),
    "lifo queue": (OlderWhole, "restore"),
    "cancelled": (OlderWhole, "restore"),
    "globals": (OlderState, "show_whole"),
    "__class__": (OlderState, "note_assigned"),
    "greatest length of a deque": (module_of_older_state, "_put_fields_back"),
    "length of a deque": (module_of_older_state, "_put_fields_back"),
    "C metaclass": (module_of_older_state, "_write_in_class"),
    "text file": (OlderInC, "meet"),
    "text": (OlderInC, "meet"),
}
"""By what the program does (`test_put_back`): the step that is left out."""


def test_copies_with_changes_of_a_run_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OlderState, "_copy_again", nothing_happens)
    assert test_put_back.find_left_behind() != {}


@pytest.mark.parametrize("way", NOT_PUT_BACK)
def test_what_is_not_put_back_is_noticed(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*NOT_PUT_BACK[way], nothing_happens)
    module = module_of(tmp_path, test_put_back.SOURCE)
    with module.FILE:
        assert test_put_back.explore(module, "check_then_act", way).verdict != "violated"


@pytest.mark.parametrize("way", ["object", "metaclass"])
def test_a_race_in_what_a_class_holds_is_missed_without(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OlderState, "hold_attribute", nothing_happens)
    assert test_captured.verdict_of(tmp_path, way, beside=True) != "violated"


def test_failures_that_come_of_a_loss_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Losses, "may_explain", lambda self, failed: False)
    names = test_losses.LOSING
    assert "violated" in [test_losses.explore(tmp_path, name).verdict for name in names]
