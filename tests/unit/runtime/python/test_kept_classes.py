"""What is known of classes is kept from run to run, for as long as they do not change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.limits import ENOUGH

import mazurka
from mazurka.runtime.python.attributes import (
    Settled,
    _versions,
    forget_all_classes,
    forget_classes,
    settled,
)
from mazurka.runtime.python.variables import _settle
from mazurka.runtime.sharing.locations import learned


class Computed:
    def __get__(self, thing: object, kind: type) -> int:
        return 1


class Base:
    computed: Any = Computed()


class Thing(Base):
    pass


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    def forget() -> None:
        learned.clear()
        forget_all_classes()

    forget()
    yield
    forget()


def _settle_all() -> None:
    thing = Thing()
    thing.own = thing.computed  # type: ignore[attr-defined]
    thing.__class__.__name__  # noqa: B018 - they all have versions from now on
    for name in ("own", "computed"):
        assert _settle(Thing, name) is Settled.OWN
    forget_classes()
    for name in ("own", "computed"):
        assert (settled.get((id(Thing), name)) or _settle(Thing, name)) is Settled.OWN


def test_nothing_is_forgotten_of_classes_that_stay_as_they_are() -> None:
    _settle_all()
    forget_classes()
    assert (id(Thing), "own") in settled


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the class": lambda patch: patch.setattr(Thing, "own", property(len), raising=False),
    "a base": lambda patch: patch.setattr(Base, "own", property(len), raising=False),
    "the type of what the class has": lambda patch: patch.setattr(
        Computed, "__set__", lambda *_: None, raising=False
    ),
    "what is known to move": lambda patch: learned.moving.add("own"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_depends_on_a_change_is_forgotten(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _settle_all()
    name = "computed" if "type" in what else "own"
    CHANGES[what](monkeypatch)
    forget_classes()
    assert (id(Thing), name) not in settled
    assert _settle(Thing, name) is Settled.OPEN


@pytest.mark.parametrize("name", ["own", "__dict__"])
def test_a_class_of_a_run_is_forgotten_with_it(name: str) -> None:
    class Local:
        pass

    Local().own = 1  # type: ignore[attr-defined]
    _settle(Local, name)
    assert (id(Local), name) in settled
    forget_classes()
    assert (id(Local), name) not in settled
    assert id(Local) not in _versions


@pytest.mark.parametrize("name", ["__qualname__", "__module__"])
def test_a_class_that_a_run_renames_is_known_by_its_first_name(name: str) -> None:
    """Each execution learned something of the class, by a name that the next one did not know."""

    def program() -> None:
        class Account:
            entries = 0

        account = Account()

        def change() -> None:
            account.entries += 1
            setattr(Account, name, f"{getattr(Account, name)}x")
            account.entries += 1

        threads = [threading.Thread(target=change) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert vars(account)["entries"] == 4

    assert mazurka.explore(program, seconds=ENOUGH).verdict == "violated"
