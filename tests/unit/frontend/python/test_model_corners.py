"""Harder cases: order of waiters, objects handed to threads, atomic sections that wait."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import Case, check_case

CASES = [
    Case(
        name="items are copied",
        source="""
a = Array(Int[0, 9], 2, [3, 4])
def f():
    for i, v in enumerate(a):
        a[i] = v + 1
        assert v == 3 + i and a[i] == v + 1
    c = list(a)
    a[0] = 9
    assert c[0] == 4 and c[1] == 5
    d = [v + 1 for v in a]
    assert d[0] == 10
threads = [f()]
""",
    ),
    Case(
        name="tuple return",
        source="""
s: Int[0, 3] = 2
def pair(n):
    return n + 1, s
def f():
    p = pair(1)
    q = pair(5)
    assert p[0] == 2 and p[1] == 2 and q[0] == 6
    a, b = pair(7)
    assert a == 8 and b == 2
def w():
    global s
    if False: s = 1
threads = [f()]
""",
    ),
    Case(
        name="spawn twice in while",
        source="""
n: Int[0, 4] = 0
def g(): fetch_add(n, 1)
def f():
    i = 0
    while i < 2:
        spawn(g)
        spawn(g)
        i += 1
threads = [f()]
""",
        finals={"n": {4}},
        options={"max_threads": 2},
    ),
    Case(
        name="fifo notify",
        source="""
m = Mutex()
c = Condition(m)
order: Int[0, 3] = 0
turn: Int[0, 3] = 0
def waiter(i):
    global order, turn
    with c:
        mine = order
        order += 1
        c.wait()
        assert turn == mine, "woken out of order"
        turn += 1
        c.notify()
def starter():
    assume(order == 3)
    with c:
        c.notify()
threads = [waiter(i) for i in range(3)] + [starter()]
""",
        finals={"turn": {3}},
    ),
    Case(
        name="notify n",
        source="""
c = Condition()
n: Int[0, 3] = 0
def waiter():
    global n
    with c:
        n += 1
        c.wait()
def starter():
    assume(n == 3)
    with c:
        c.notify(2)
threads = [waiter() for i in range(3)] + [starter()]
""",
        deadlock=True,
    ),
    Case(
        name="timeout withdraw",
        source="""
c = Condition()
def waiter():
    with c:
        r = c.wait(timeout=0.5)
def patient():
    with c:
        c.wait()
def n():
    with c:
        c.notify()
threads = [waiter(), patient(), waiter(), n()]
""",
        deadlock=True,
    ),
    Case(
        name="rlock cond",
        source="""
c = Condition()
go: Bool = False
def waiter():
    with c:
        with c:
            while not go:
                c.wait()
        c.notify()
def n():
    global go
    with c:
        go = True
        c.notify()
threads = [waiter(), n()]
""",
    ),
    Case(
        name="main alias",
        source="""
x: Int[0, 5] = 0
def w(k):
    global x
    k += 1
    x = k
t = threading.Thread(target=w, args=(3,))
t.start()
t.join()
assert x == 4
""",
        finals={"x": {4}},
    ),
    Case(
        name="active param",
        source="""
x: Int[0, 5] = 0
def w(k):
    global x
    k += 1
    x = k
threads = [w(3)]
""",
        finals={"x": {4}},
    ),
    Case(
        name="spawn loop param",
        source="""
x: Int[0, 9] = 0
def w(k, m):
    global x
    k += 1
    with m:
        x += k
def main():
    m = Mutex()
    i = 0
    while i < 2:
        i += 1
        spawn(w, i, m)
threads = [main()]
""",
        finals={"x": {5}},
        options={"max_threads": 3},
    ),
    Case(
        name="lifo",
        source="""
q = queue.LifoQueue(3)
def f():
    q.put(1); q.put(2)
    assert q.get() == 2 and q.qsize() == 1 and not q.full()
    assert q.get() == 1 and q.empty()
threads = [f()]
""",
    ),
    Case(
        name="queue bool",
        source="""
q = Queue(1, Bool)
def f():
    q.put(True)
    assert q.get()
threads = [f()]
""",
    ),
    Case(
        name="local obj handed",
        source="""
def w(a, i):
    a[i] = i + 1
def f():
    a = Array(Int[0, 3], 2)
    t = spawn(w, a, 0)
    u = spawn(w, a, 1)
    join(t)
    join(u)
    assert a[0] == 1 and a[1] == 2
threads = [f()]
""",
    ),
    Case(
        name="atomic block",
        source="""
m = Mutex()
x: Int[0, 2] = 0
def f():
    global x
    with atomic():
        x += 1
        m.acquire()
        x -= 1
    m.release()
def g():
    with m:
        assert x == 0
threads = [f(), g()]
""",
        finals={"x": {0}},
    ),
    Case(
        name="atomic loop",
        source="""
a = Array(Int[0, 3], 3)
def f():
    with atomic():
        for i in range(3):
            a[i] += 1
def g():
    with atomic():
        s = sum(a)
    assert s in (0, 3)
threads = [f(), g()]
""",
    ),
    Case(
        name="direct assume multi",
        source="""
a: Bool = False
b: Bool = False
def f():
    with atomic():
        assume(a and b)
    assert a
def g():
    global a, b
    a = True
    b = True
threads = [f(), g()]
""",
    ),
]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, merge: bool) -> None:
    check_case(case, merge=merge)
