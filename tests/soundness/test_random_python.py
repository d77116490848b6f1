"""The searches of paper 001 against brute force, on random Python programs with real threads.

`benchmarks/real_programs.py` compares as many as you like.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mazurka.runtime.primitives.event import SetEvent
from mazurka.stateless import iterative
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import BoundedNode
from mazurka.stateless.search import NOBODY
from tests.soundness.amounts import shares
from tests.soundness.python_agreement import compare
from tests.soundness.python_runs import module_of
from tests.soundness.random_python import TOOLS, random_source

PROGRAMS = shares(18)
TIMED_PROGRAMS = shares(6)
PORTION = 6
SCHEDULES = 150
"""Programs with more schedules are left out."""
LOST_UPDATE = """
import threading

class Box:
    def __init__(self):
        self.a = 0

def program(note):
    box = Box()
    def work():
        box.a += 1
    thread = threading.Thread(target=work)
    thread.start()
    work()
    thread.join()
    note(box.a)
    assert box.a == 2
"""
LOOK = """
import threading

def program(note):
    event = threading.Event()
    def work():
        note(event.is_set())
    thread = threading.Thread(target=work)
    thread.start()
    event.set()
    thread.join()
"""


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_searches_see_what_brute_force_sees(first: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + PORTION):
        agreement = compare(module_of(tmp_path, random_source(seed)), SCHEDULES)
        if agreement is not None:
            compared += 1
            assert agreement.problems == [], seed
    assert compared > 0


@pytest.mark.parametrize("first", range(0, TIMED_PROGRAMS, PORTION))
def test_searches_see_what_brute_force_sees_of_clocks(first: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + PORTION):
        source = random_source(seed, timed=True)
        agreement = compare(module_of(tmp_path, source), SCHEDULES)
        if agreement is not None:
            compared += 1
            assert agreement.problems == [], seed
    assert compared > 0


def test_programs_are_varied() -> None:
    sources = [random_source(seed) for seed in range(400)]
    assert all(ast.parse(source) for source in sources)
    whole = "\n".join(sources)
    assert all(made in whole for _, made in TOOLS.values())
    timed = "\n".join(random_source(seed, timed=True) for seed in range(100))
    for used in ("time.sleep(", "stamps.append(", "while time.monotonic()"):
        assert used in timed
    for used in ("ThreadPoolExecutor(2)", "timeout=1", "nonlocal hits", "finally:", "wait_for("):
        assert used in whole


def test_of_a_known_program_everything_is_seen(tmp_path: Path) -> None:
    """Two reads and two writes: in turn (2 orders), or both reads first (2 orders of writes).

    Both reads first, and the other thread writes last: main is preempted after its read, and the
    other thread after its own, which is most.  Then an update is lost, and the assertion fails.
    """
    agreement = compare(module_of(tmp_path, LOST_UPDATE), SCHEDULES)
    assert agreement is not None
    assert agreement.problems == []
    assert agreement.executions == 4
    assert agreement.deepest == 2
    assert set(agreement.failures) == {"assert"}


def test_a_search_that_leaves_something_out_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hasty(Algorithm2):
        def choose_again(self, node: BoundedNode) -> int:
            return NOBODY

    monkeypatch.setitem(iterative.ALGORITHMS, "algorithm-2", Hasty)
    agreement = compare(module_of(tmp_path, LOST_UPDATE), SCHEDULES)
    assert agreement is not None
    assert any("loses" in problem for problem in agreement.problems)


def test_an_operation_that_hides_what_it_writes_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SetEvent, "writes", False)
    with pytest.raises(AssertionError, match="one execution has two outcomes"):
        compare(module_of(tmp_path, LOOK), SCHEDULES)
