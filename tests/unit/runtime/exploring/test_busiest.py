"""A search that ends at a limit says which lines make its executions long."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from tests.limits import ENOUGH

import mazurka
from mazurka.report.answer import INCONCLUSIVE
from mazurka.runtime.exploring.exploration import Exploration

TURNS = 30


def counts_much() -> None:
    counts: dict[int, int] = {}

    def work() -> None:
        for turn in range(TURNS):
            counts[turn] = counts.get(turn, 0) + 1

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_lines_with_most_steps_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Exploration.choose_limits
    monkeypatch.setattr(
        Exploration, "choose_limits", lambda self: replace(limits(self), max_states=500)
    )
    result = mazurka.explore(counts_much, preemptions=2)
    assert result.verdict == INCONCLUSIVE
    (note,) = (one for one in result.notes if one.startswith("an execution without"))
    line = counts_much.__code__.co_firstlineno + 5
    assert "in tests/unit/runtime/exploring/test_busiest.py (" in note
    assert f"{line}" in note
    steps = int(note.split(" has ")[1].split()[0])
    assert steps >= 4 * TURNS


def test_where_the_search_is_complete_nothing_is_said() -> None:
    def program() -> None:
        thread = threading.Thread(target=print)
        thread.start()
        thread.join()

    result = mazurka.explore(program, seconds=ENOUGH)
    assert not any("without preemptions has" in note for note in result.notes)
