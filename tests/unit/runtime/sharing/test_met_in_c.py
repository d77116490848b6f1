"""Objects of C code that a run is the first to meet: older than the run, or made by it?"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from mazurka.runtime.sharing import names as module
from mazurka.runtime.sharing.kept_by_c import OlderInC
from mazurka.runtime.sharing.names import Names


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(module.unobserved, "lose", found.append)
    monkeypatch.setattr(module, "older_in_c", OlderInC())
    return found


def change(thing: Any) -> None:
    module.older_in_c.meet(thing)
    thing.update(b"x")


def test_what_a_run_is_the_first_to_meet_may_be_its_own(lost: list[Any]) -> None:
    names, digest = Names(), hashlib.md5()
    names._pin_met(digest, "outside hash 1")
    names._fresh[id(digest)] = "hash"
    change(digest)
    names.restart()
    assert lost == []


def test_what_the_next_run_meets_is_older_than_both(lost: list[Any]) -> None:
    names, digest = Names(), hashlib.md5()
    names._pin_met(digest, "outside hash 1")
    names._fresh[id(digest)] = "hash"
    change(digest)
    names.restart()
    names._fresh.clear()  # as after a run that has met objects
    module.older_in_c.meet(digest)
    names.restart()
    assert lost == ["outside hash 1"]


def test_what_is_known_to_be_older_is_lost_at_once(lost: list[Any]) -> None:
    names, digest = Names(), hashlib.md5()
    names.pin(digest, "shop.DIGEST")
    change(digest)
    names.restart()
    assert lost == ["shop.DIGEST"]
