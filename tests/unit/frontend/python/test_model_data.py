"""Shared numbers, arrays, records, functions, choices, atomic operations."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import Case, check_case

CASES = [
    Case(
        name="assume that asks more than once about one number, chain",
        source="""
ONE = 1
x: Int[0, 3] = 0
y: Int[0, 3] = 0
def f():
    global y
    k = choose(0, 1)
    assume(0 < x < 2 and k == 1)
    y = k + 1
def g():
    global x
    x = 1
    x = 2
threads = [f(), g()]
""",
        finals={"x": {2}, "y": {2}},
    ),
    Case(
        name="assume that asks more than once about one number, members",
        source="""
ONE = 1
x: Int[0, 3] = 0
y: Int[0, 3] = 0
def f():
    global y
    k = choose(0, 1)
    assume(x in (1, 3) and ONE)
    y = k + 1
def g():
    global x
    x = 1
    x = 2
threads = [f(), g()]
""",
        finals={"x": {2}, "y": {1, 2}},
    ),
    Case(
        name="assume that asks more than once about one number, alternative",
        source="""
ONE = 1
x: Int[0, 3] = 0
y: Int[0, 3] = 0
def f():
    global y
    k = choose(0, 1)
    assume(x == 1 or k == 2 or not ONE)
    y = k + 1
def g():
    global x
    x = 1
    x = 2
threads = [f(), g()]
""",
        finals={"x": {2}, "y": {1, 2}},
    ),
    Case(
        name="ends of the range of 64-bit numbers",
        source="""
LOW, HIGH = -9223372036854775808, (1 << 63) - 1
x: Int[-2 ** 63, 2 ** 63 - 1] = -2 ** 63
y: Int[0, 3] = 0
def f():
    global x, y
    assert x == LOW and x // 2 == -2 ** 62
    x = choose(LOW, HIGH, -1)
    y = (x >> 62) + 2
threads = [f()]
""",
        finals={"x": {-(2**63), 2**63 - 1, -1}, "y": {0, 1, 3}},
    ),
    Case(
        name="race counter",
        source="""
x: Int[0, 4] = 0
def w():
    global x
    x += 1
threads = [w() for _ in range(2)]
""",
        finals={"x": {1, 2}},
    ),
    Case(
        name="choose assume",
        source="""
x: Int[0, 3] = 0
def f():
    global x
    a = choose(range(4))
    assume(a != 2)
    x = a
threads = [f()]
""",
        finals={"x": {0, 1, 3}},
    ),
    Case(
        name="choose atomic",
        source="""
x: Int[0, 5] = 0
def f():
    global x
    with atomic():
        x = choose(1, 2) + choose(0, 3)
threads = [f()]
""",
        finals={"x": {1, 2, 4, 5}},
    ),
    Case(
        name="assume shared",
        source="""
x: Int[0, 3] = 0
def f():
    assume(x == 1)
def g():
    global x
    x = 1
threads = [f(), g()]
""",
        finals={"x": {1}},
    ),
    Case(
        name="cas",
        source="""
x: Int[0, 2] = 0
def f():
    while True:
        old = x
        if cas(x, old, old + 1):
            break
threads = [f(), f()]
""",
        finals={"x": {2}},
    ),
    Case(
        name="fetch_add swap",
        source="""
x: Int[0, 3] = 0
a = Array(Int[0,3], 2)
def f():
    t = fetch_add(x, 1)
    assert swap(a[t], 1) == 0
threads = [f(), f()]
""",
        finals={"x": {2}},
    ),
    Case(
        name="recursion",
        source="""
x: Int[0, 200] = 0
def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)
def f():
    global x
    x = fact(5)
threads = [f()]
""",
        finals={"x": {120}},
    ),
    Case(
        name="recursion bound",
        source="""
def rec(n):
    if n == 0: return 0
    return rec(n - 1)
def f():
    a = rec(choose(3, 20))
threads = [f()]
""",
        faults=("bound",),
        message="recursion of rec is deeper than 8 calls (--max-depth)",
    ),
    Case(
        name="records",
        source="""
@dataclass
class Account:
    balance: Int[0, 9] = 5
    lock: Mutex
    def add(self, n):
        with self.lock:
            self.balance += n
accounts = Array(Account, 2)
def move(a, b):
    accounts[a].add(-1)
    accounts[b].add(1)
threads = [move(0, 1), move(1, 0)]
""",
        finals={"accounts[0].balance": {5}},
    ),
    Case(
        name="index",
        source="""
a = Array(Int[0, 3], 2)
def f(i):
    j = choose(0, 1, 2)
    a[j] = 1
threads = [f(1)]
""",
        faults=("index",),
        finals={"a[0]": {0, 1}},
    ),
    Case(
        name="neg index",
        source="""
a = Array(Int[0, 3], 2)
def f():
    a[-1] = 1
    j = choose(-1, -2)
    a[j] += 2
threads = [f()]
""",
        finals={"a[1]": {1, 3}},
    ),
    Case(
        name="range fault",
        source="""
x: Int[0, 1] = 0
def f():
    global x
    while True:
        x += 1
threads = [f()]
""",
        faults=("range",),
    ),
    Case(
        name="zero div",
        source="""
x: Int[0, 1] = 0
def f():
    y = 1 // x
threads = [f()]
""",
        faults=("exception",),
    ),
    Case(
        name="for else break",
        source="""
x: Int[0, 9] = 0
def f():
    global x
    for i in range(3):
        if i == choose(1, 7):
            break
    else:
        x = 9
        return
    x = i
threads = [f()]
""",
        finals={"x": {1, 9}},
    ),
    Case(
        name="and or",
        source="""
x: Int[0, 9] = 3
y: Int[0, 9] = 0
def f():
    global y
    y = x and 5
    assert y == 5
    y = (x - 3) or (x + 1)
    assert y == 4
    assert 1 < x < 4
    y = 7 if x == 3 else 8
    assert y == 7 and not (x == 4 or x == 5)
def g():
    global x
    if False: x = 1
threads = [f()]
""",
        finals={"y": {7}},
    ),
    Case(
        name="local arrays",
        source="""
x: Int[0, 9] = 0
def f():
    global x
    a = Array(Int[0, 9], 3)
    b = [1, 2, 3]
    s = 0
    for i in range(3):
        a[i] = b[i] * 2
    for v in a:
        s = s + 0
    for i in range(len(a)):
        assert a[i] == 2 * (i + 1)
    x = min(a[0], 7) + max(b[0], b[1]) + abs(-3)
threads = [f()]
""",
        finals={"x": {7}},
    ),
    Case(
        name="peterson",
        source="""
flag = Array(Bool, 2)
turn: Int[0, 1] = 0
crit: Int[0, 2] = 0
def p(i):
    global turn, crit
    while True:
        flag[i] = True
        turn = 1 - i
        while flag[1 - i] and turn == 1 - i:
            pass
        crit += 1
        assert crit == 1
        crit -= 1
        flag[i] = False
threads = [p(i) for i in range(2)]
""",
    ),
    Case(
        name="swap tuple",
        source="""
x: Int[0, 9] = 1
y: Int[0, 9] = 2
def f():
    global x, y
    x, y = y, x
    assert x == 2 and y == 1
    a, b = 3, 4
    a, b = b, a
    assert a == 4 and b == 3
    a += b
    assert a == 7
threads = [f()]
""",
        finals={"x": {2}},
    ),
]


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case, merge: bool) -> None:
    check_case(case, merge=merge)
