"""Which programs cannot hang, by their text."""

from __future__ import annotations

from random import Random

import pytest
from tests.soundness.cyclic_parts import GRAPHS, draw_edges, is_split_right
from tests.soundness.hang_models import HANGING
from tests.soundness.mover_models import program_of

from mazurka.analysis.quiet_loops import may_hang, split
from mazurka.ir.program import Program

QUIET = {
    "polls": ["while not go:", "    pass"],
    "writes what may be there": ["while True:", "    go = True"],
    "counts and starts again": [
        *("k: Int[0, 3] = 0", "while True:", "    k = k + 1"),
        *("    if k == 3:", "        k = 0"),
    ],
    "counts up and down": ["k: Int[0, 3] = 1", "while True:", "    k = k + 1", "    k = k - 1"],
    "takes back what it wrote": [
        *("while True:", "    with atomic():", "        n = n + 1", "        n = n - 1"),
    ],
    "polls inside a loop that ends": ["for k in range(3):", "    while not go:", "        pass"],
    "polls under a lock": ["with m:", "    while not go:", "        pass"],
    "tries a lock": ["while not m.acquire(blocking=False):", "    pass"],
}
LOUD = {
    "takes a lock": ["while True:", "    with m:", "        go = True"],
    "goes down": ["while True:", "    s.acquire()"],
    "gets items": ["while True:", "    q.get()"],
    "adds": ["while True:", "    fetch_add(n, 1)", "    n = 0"],
    "ends": ["for k in range(3):", "    go = k == 1"],
    "ends in two ways": [
        *("for k in range(3):", "    for j in range(2):", "        if go:", "            break"),
    ],
    "waits": ["with c:", "    while not go:", "        c.wait()"],
    "has no loop": ["go = True"],
}
HEAD = """
go = False
n: Int[0, 5] = 0
m = Mutex()
s = Semaphore(1)
q = Queue(2)
c = threading.Condition()
def first():
    global go, n
"""


def made_of(body: list[str]) -> Program:
    lines = "\n".join(f"    {line}" for line in body)
    return program_of(f"{HEAD}{lines}\nthreads = [first(), first()]\n")


@pytest.mark.parametrize("name", QUIET)
def test_loops_that_may_be_quiet(name: str) -> None:
    assert may_hang(made_of(QUIET[name]))


@pytest.mark.parametrize("name", LOUD)
def test_loops_that_cannot_be(name: str) -> None:
    assert not may_hang(made_of(LOUD[name]))


@pytest.mark.parametrize("name", HANGING)
def test_programs_that_hang(name: str) -> None:
    assert may_hang(program_of(HANGING[name]))


def test_parts_of_random_graphs() -> None:
    rng = Random(7)
    several = 0
    for _ in range(GRAPHS):
        edges = draw_edges(rng)
        assert is_split_right(edges)
        several += len(split(edges)) > 1
    assert several > GRAPHS // 10
