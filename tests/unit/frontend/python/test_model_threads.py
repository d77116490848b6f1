"""Threads that are made while the program runs, and `main`."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import Case, check_case

CASES = [
    Case(
        name="threading",
        source="""
counter: Int[0, 9] = 0
lock = threading.Lock()
def worker(n):
    global counter
    for _ in range(n):
        with lock:
            counter += 1
ts = [threading.Thread(target=worker, args=(2,)) for i in range(2)]
for t in ts: t.start()
for t in ts: t.join()
assert counter == 4
""",
        finals={"counter": {4}},
    ),
    Case(
        name="threading2",
        source="""
counter: Int[0, 9] = 0
def worker(lock, n):
    global counter
    with lock:
        counter += n
def main():
    lock = threading.Lock()
    ts = []
    for i in range(2):
        t = threading.Thread(target=worker, args=(lock, i))
        ts.append(t)
        t.start()
    for t in ts:
        t.join()
    assert counter == 1
if __name__ == "__main__":
    main()
""",
        finals={"counter": {1}},
    ),
    Case(
        name="spawn join",
        source="""
x: Int[0, 3] = 0
def child(k):
    global x
    x = k
def parent():
    h = spawn(child, 2)
    join(h)
    assert x == 2
threads = [parent()]
""",
        finals={"x": {2}},
    ),
    Case(
        name="spawn while",
        source="""
def child(): pass
def parent():
    while True:
        spawn(child)
threads = [parent()]
""",
        faults=("bound",),
        message="more than 2 threads run child (--max-threads)",
        options={"max_threads": 2},
    ),
    Case(
        name="start twice",
        source="""
def child(): pass
t = threading.Thread(target=child)
t.start()
t.start()
""",
        faults=("exception",),
        message="`t` is started twice",
    ),
    Case(
        name="join unstarted",
        source="""
def child(): pass
t = threading.Thread(target=child)
t.join()
""",
        faults=("exception",),
        message="join of `t`, which has not been started",
    ),
    Case(
        name="recursive spawn",
        source="""
def f():
    spawn(f)
threads = [f()]
""",
        faults=("bound",),
        message="more than 3 threads run f (--max-threads)",
        options={"max_threads": 3},
    ),
]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, merge: bool) -> None:
    check_case(case, merge=merge)
