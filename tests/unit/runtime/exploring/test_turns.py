"""Explorations in several threads of a process follow each other."""

from __future__ import annotations

import threading
from collections.abc import Callable

import mazurka
from mazurka.runtime.story.result import Result


def count_twice() -> None:
    box = {"count": 0}

    def count() -> None:
        box["count"] += 1

    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert box["count"] == 2


def look_only() -> None:
    box = {"count": 0}
    thread = threading.Thread(target=lambda: box.get("count"))
    thread.start()
    thread.join()


def test_explorations_in_threads_do_not_disturb_each_other() -> None:
    found: dict[int, Result] = {}

    def explore(number: int, scenario: Callable[[], None]) -> None:
        found[number] = mazurka.explore(scenario, preemptions=2)

    scenarios = [count_twice, look_only] * 3
    threads = [
        threading.Thread(target=explore, args=(number, scenario))
        for number, scenario in enumerate(scenarios)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number].verdict for number in sorted(found)] == ["violated", "holds"] * 3


def test_an_exploration_inside_of_another_one_is_refused() -> None:
    inner: list[Result] = []
    mazurka.explore(lambda: inner.append(mazurka.explore(look_only, races=True)), races=True)
    assert {found.verdict for found in inner} == {"error"}
    assert "explorations cannot be nested" in str(inner[0].error)
