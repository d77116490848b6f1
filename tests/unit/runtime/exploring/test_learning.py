"""Learning by random schedules: fewer searches begin anew, and what they find stays the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import find, module_of, observed, site_of

from mazurka.runtime.exploring.learning import BoundedWalk, learn_ahead
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.sharing.locations import Learned, learned
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.iterative import explore

CHAIN = """
import threading, time
lock = threading.Lock()
def program():
    table, found = {}, []
    def look():
        with lock:
            pass
        first = "a" in table
        second = "a" in table
        third = "a" in table
        with lock:
            pass
        found.append((first, second, third))
    def add():
        with lock:
            table["a"] = 1
    threads = [threading.Thread(target=look), threading.Thread(target=add)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found[0]
"""
"""Only the last look at a table is remembered: each search learns of the one before it."""
NAPS = CHAIN.replace('first = "a"', 'time.sleep(1); first = "a"')


def explore_learning(
    folder: Path, most: int, learn: Callable[..., object] = learn_ahead
) -> tuple[Explored, set[object], set[str], int]:
    """Explore the chain, and learn by so many random schedules before searches begin anew."""
    module = module_of(folder, CHAIN)
    outcomes: set[object] = set()
    with observed(module, lambda: outcomes.add(module.program())) as program:

        def search() -> Explored:
            if program.restarts:
                learn(program, 2, most, RunOptions())
            return explore(program, 2, options=RunOptions(stop_at_first=False))

        explored = program.supervise(search)
        points = {f"{site.role} {site.text}" for site in map(site_of, learned.points)}
        return explored, outcomes, points, program.restarts


def test_a_search_that_begins_anew_learns_ahead(tmp_path: Path) -> None:
    alone = find(tmp_path, CHAIN, bound=2)
    explored, outcomes, points, restarts = explore_learning(tmp_path, 50)
    assert alone.restarts >= 3 > restarts
    assert outcomes == alone.outcomes
    assert len(outcomes) == 4
    assert points == alone.points
    assert explored.executions == alone.explored.executions


def test_a_search_that_trusts_what_was_learned_ahead_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trust(program: ObservedProgram, bound: int | None, most: int, options: RunOptions) -> None:
        learn_ahead(program, bound, most, options)
        monkeypatch.setattr(Learned, "learn", lambda self, site: None)

    _, outcomes, *_ = explore_learning(tmp_path, 1)
    assert len(outcomes) == 4
    _, outcomes, *_ = explore_learning(tmp_path, 1, trust)
    assert len(outcomes) < 4


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_no_walk_has_more_preemptions_than_allowed(bound: int, tmp_path: Path) -> None:
    module = module_of(tmp_path, NAPS)
    with observed(module, module.program) as program:

        def walk(seed: int) -> int:
            fresh = set(learned.points)
            decider = BoundedWalk(random.Random(seed), bound, 20, fresh)
            program.run(decider)
            return decider.preemptions.count

        program.supervise(lambda: explore(program, 2))
        spent = program.supervise(lambda: [walk(seed) for seed in range(40)])
        assert max(spent) == bound
