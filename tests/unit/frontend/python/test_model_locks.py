"""Locks, recursive locks, read-write locks: right use, misuse, deadlock."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import Case, check_case

CASES = [
    Case(
        name="mutex misuse",
        source="""
m = Mutex()
def w():
    m.release()
threads = [w()]
""",
        faults=("lock",),
        message="release of `m`, which this thread does not hold",
    ),
    Case(
        name="lock released by other",
        source="""
m = threading.Lock()
def a(): m.acquire()
def b(): m.release()
threads = [a(), b()]
""",
        faults=("lock",),
        message="release of `m`, which is not locked",
        finals={"m": {0}},
    ),
    Case(
        name="rlock",
        source="""
m = threading.RLock()
def a():
    with m:
        with m:
            pass
threads = [a(), a()]
""",
        finals={"m": {0}, "m.count": {0}},
    ),
    Case(
        name="self deadlock",
        source="""
m = Mutex()
def a():
    with m:
        with m:
            pass
threads = [a()]
""",
        deadlock=True,
    ),
    Case(
        name="try",
        source="""
m = Mutex()
x: Int[0,1]=0
def w():
    global x
    if m.acquire(blocking=False):
        x += 1
        assert x == 1
        x -= 1
        m.release()
threads = [w(), w()]
""",
        finals={"x": {0}},
    ),
    Case(
        name="with return",
        source="""
m = Mutex()
def g():
    with m:
        with atomic():
            return 3
def f():
    for i in range(2):
        with m:
            if choose(True, False):
                continue
            break
    assert g() == 3
    assert not m.locked()
threads = [f()]
""",
        finals={"m": {0}},
    ),
    Case(
        name="rwlock",
        source="""
rw = RWLock()
x: Int[0,1] = 0
def r():
    with rw.read():
        assert x == 0
def w():
    global x
    with rw.write():
        x = 1
        x = 0
threads = [r(), r(), w()]
""",
        finals={"x": {0}},
    ),
    Case(
        name="rw misuse",
        source="""
rw = RWLock()
def r():
    rw.release_read()
threads = [r()]
""",
        faults=("lock",),
        message="which this thread does not read",
    ),
]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, merge: bool) -> None:
    check_case(case, merge=merge)
