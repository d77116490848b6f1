"""Semaphores, conditions, events, barriers, queues."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import Case, check_case

CASES = [
    Case(
        name="wait_for in atomic",
        source="""
c = Condition()
x: Int[0, 1] = 0
def ready(): return x == 1
def a():
    with atomic():
        with c:
            c.wait_for(ready)
            assert x == 1
def b():
    global x
    x = 1
threads = [a(), b()]
""",
        finals={"x": {1}},
    ),
    Case(
        name="timed wait in atomic",
        source="""
c = Condition()
x: Int[0, 1] = 0
def a():
    global x
    with atomic():
        with c:
            if not c.wait(timeout=1):
                x = 1
def b():
    with c: c.notify()
threads = [a(), b()]
""",
        finals={"x": {1}},
    ),
    Case(
        name="semaphore",
        source="""
s = Semaphore(1)
n: Int[0, 2] = 0
def a():
    global n
    with s:
        n += 1
        assert n == 1
        n -= 1
threads = [a(), a()]
""",
        finals={"s": {1}},
    ),
    Case(
        name="semaphore over",
        source="""
s = Semaphore(1, max=1)
def a(): s.release()
threads = [a()]
""",
        faults=("bound",),
        message="`s` exceeds 1",
    ),
    Case(
        name="bounded semaphore over",
        source="""
s = threading.BoundedSemaphore(1)
def a(): s.release()
threads = [a()]
""",
        faults=("lock",),
        message="released too many times",
    ),
    Case(
        name="condition lost wakeup",
        source="""
c = Condition()
ready: Bool = False
def waiter():
    with c:
        c.wait()
def notifier():
    with c:
        c.notify()
threads = [waiter(), notifier()]
""",
        deadlock=True,
    ),
    Case(
        name="condition right",
        source="""
c = Condition()
ready: Bool = False
def waiter():
    with c:
        while not ready:
            c.wait()
def notifier():
    global ready
    with c:
        ready = True
        c.notify_all()
threads = [waiter(), waiter(), notifier()]
""",
        finals={"ready": {1}},
    ),
    Case(
        name="condition wait_for lambda",
        source="""
m = threading.Lock()
c = threading.Condition(m)
ready = False
def waiter():
    with c:
        c.wait_for(lambda: ready)
        assert ready
def notifier():
    global ready
    with m:
        ready = True
        c.notify()
threads = [waiter(), notifier()]
""",
    ),
    Case(
        name="condition wait unheld",
        source="""
c = Condition()
def waiter():
    c.wait()
threads = [waiter()]
""",
        faults=("lock",),
        message="wait on `c` without holding its lock",
    ),
    Case(
        name="condition timeout",
        source="""
c = Condition()
r: Int[0,2] = 2
def waiter():
    global r
    with c:
        r = c.wait(timeout=1.0)
def notifier():
    with c:
        c.notify()
threads = [waiter(), notifier()]
""",
        finals={"r": {0, 1}},
    ),
    Case(
        name="event",
        source="""
e = Event()
x: Int[0,1] = 0
def a():
    e.wait()
    assert x == 1
def b():
    global x
    x = 1
    e.set()
threads = [a(), b()]
""",
    ),
    Case(
        name="barrier",
        source="""
b = Barrier(2)
phase = Array(Int[0, 2], 2)
def w(i):
    for r in range(2):
        phase[i] += 1
        b.wait()
        assert phase[1 - i] >= r + 1
threads = [w(i) for i in range(2)]
""",
        finals={"phase[0]": {2}},
    ),
    Case(
        name="queue",
        source="""
q = Queue(1)
def p():
    for i in range(3): q.put(i)
def c():
    for i in range(3):
        x = q.get()
        assert x == i
threads = [p(), c()]
""",
        finals={"q": {0}},
    ),
    Case(
        name="queue unbounded bound",
        source="""
q = queue.Queue()
def p():
    while True: q.put(1)
threads = [p()]
""",
        faults=("bound",),
        message="`q` holds more than 8 items",
    ),
    Case(
        name="record init condition",
        source="""
class Buffer:
    def __init__(self, size):
        self.size = size
        self.count: Int[0, 3] = 0
        self.lock = threading.Lock()
        self.not_empty = threading.Condition(self.lock)
        self.not_full = threading.Condition(self.lock)
    def put(self):
        with self.not_full:
            while self.count == self.size:
                self.not_full.wait()
            self.count += 1
            self.not_empty.notify()
    def get(self):
        with self.not_empty:
            while self.count == 0:
                self.not_empty.wait()
            self.count -= 1
            self.not_full.notify()
b = Buffer(1)
def p():
    for _ in range(2): b.put()
def c():
    for _ in range(2): b.get()
threads = [p(), c()]
""",
        finals={"b.count": {0}},
    ),
    Case(
        name="task_done",
        source="""
q = queue.Queue(2)
done: Bool = False
def w():
    global done
    x = q.get()
    done = True
    q.task_done()
def main():
    t = threading.Thread(target=w)
    t.start()
    q.put(5)
    q.join()
    assert done
main()
""",
        finals={"done": {1}},
    ),
]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, merge: bool) -> None:
    check_case(case, merge=merge)
