"""Batons: a thread waits until another one hands over to it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from mazurka.runtime.core import batons
from mazurka.runtime.core.batons import Baton, QueueBaton, make_baton, make_lock_baton


@pytest.mark.parametrize("make", [make_lock_baton, QueueBaton])
def test_threads_take_turns(make: Callable[[], Baton]) -> None:
    here, there = make(), make()
    turns: list[str] = []

    def answer() -> None:
        for _ in range(3):
            there.acquire()
            turns.append("there")
            here.release()

    thread = threading.Thread(target=answer)
    thread.start()
    for _ in range(3):
        turns.append("here")
        there.release()
        here.acquire()
    thread.join()
    assert turns == ["here", "there"] * 3


def test_no_baton_spins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batons, "SPINS", True)
    assert type(make_baton()) is QueueBaton
    monkeypatch.setattr(batons, "SPINS", False)
    assert type(make_baton()) is not QueueBaton
