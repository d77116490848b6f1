"""The garbage collector is paused during an exploration, and programs do not notice."""

from __future__ import annotations

import gc
import threading

import mazurka


def pauses_the_collector_twice() -> None:
    paused = []

    def pause() -> None:
        if gc.isenabled():
            gc.disable()
            paused.append(True)

    threads = [threading.Thread(target=pause) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    gc.enable()
    assert len(paused) == 1


def test_programs_find_the_collector_enabled() -> None:
    """That both threads find it enabled is a failure; that none does is impossible."""
    result = mazurka.explore(pauses_the_collector_twice, preemptions=2)
    assert result.verdict == "violated"
    assert "2 == 1" in result.report(200)
    assert gc.isenabled()
