"""Chains of starts and joins become single steps, and nothing else changes."""

from __future__ import annotations

import textwrap
from math import comb

import pytest
from tests.soundness.replaying import replays

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.gather import gather
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Kind, Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.reference.full import explore

HEAD = """
import threading
from mazurka.model import *
N = 4
lock = threading.Lock()
x: Int[0, N] = 0
"""
WORKER = """
def worker():
    global x
    with lock:
        x += 1
"""
MAIN = """
def main():
    workers = [threading.Thread(target=worker) for _ in range(N)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert x == N
threads = [main()]
"""


def program_of(text: str, *, merge: bool = True) -> Program:
    return prepare(elaborate(HEAD + textwrap.dedent(text), "model.py"), merge=merge)


def search(program: Program, **options: object) -> SearchResult:
    chosen = SearchOptions(**options)  # type: ignore[arg-type]
    return load_strategy("full").run(program, chosen, Silent())


def kinds_of(program: Program) -> list[Kind]:
    return [edge.kind for edge in program.threads[0].edges]


@pytest.mark.parametrize("merge", [True, False])
def test_starts_and_joins_are_one_step_each(merge: bool) -> None:
    program = program_of(WORKER + MAIN, merge=merge)
    found = gather(program)
    assert found is not None
    kinds = kinds_of(found.program)
    assert kinds.count(Kind.CREATE) == 1
    assert kinds.count(Kind.JOIN) == 1
    assert explore(found.program).kinds == explore(program).kinds == set()
    assert set(explore(found.program).states) <= set(explore(program).states)


def test_threads_that_main_starts_are_interchangeable() -> None:
    """A worker is at the lock, at one of three locations inside of it, at its exit, or at its end:
    3 local states outside and 3 inside, of which one worker is at most.  Main has not started them
    (1 state), waits for them, or, when all have ended, is behind the joins or at its end (2)."""
    result = search(program_of(WORKER + MAIN), symmetry=True, stop_at_first=False, self_check=True)
    assert result.violation is None
    assert [len(names) for names in result.interchangeable] == [4]
    waiting = comb(4 + 2, 4) + 3 * comb(3 + 2, 3)
    assert result.statistics.states == 1 + waiting + 2 == 48
    assert any("agrees" in note for note in result.notes)


def test_a_schedule_has_every_start_and_join() -> None:
    program = program_of(WORKER.replace("with lock", "if True") + MAIN)
    found = search(program, symmetry=True).violation
    assert found is not None
    assert found.kind == "assert"  # the read and the assertion behind it are one step
    assert replays(program, found)
    assert sum(move.thread == 0 for move in found.path) == 4 + 4 + 1


def test_a_deadlock_is_one_of_the_program() -> None:
    """The first worker ends, and main has joined it when the others wait for the lock."""
    program = program_of(WORKER + "    if x == 1:\n        lock.acquire()\n" + MAIN)
    found = search(program, symmetry=True).violation
    assert found is not None
    assert found.kind == "deadlock"
    assert replays(program, found)


def test_a_breadth_first_search_keeps_the_lengths_of_runs() -> None:
    program = program_of(WORKER + MAIN)
    assert search(program, symmetry=True, order="bfs").interchangeable == ()


UNGATHERED = {
    "a step between the starts": (
        WORKER
        + """
def main():
    global x
    first, second = threading.Thread(target=worker), threading.Thread(target=worker)
    first.start()
    x = 0
    second.start()
threads = [main()]
"""
    ),
    "a look at a thread between the starts": (
        WORKER
        + """
def main():
    first, second = threading.Thread(target=worker), threading.Thread(target=worker)
    first.start()
    assert first.is_alive() or x > 0
    second.start()
threads = [main()]
"""
    ),
    "an assumption": WORKER + "    assume(x > 0)\n" + MAIN,
    "a start in a loop": WORKER
    + """
def main():
    while x < 2:
        spawn(worker)
threads = [main()]
""",
}


@pytest.mark.parametrize("text", UNGATHERED.values(), ids=UNGATHERED)
def test_what_is_not_gathered(text: str) -> None:
    assert gather(program_of(text)) is None
