# expect: holds
"""reversed, enumerate, zip, sum, any, all, min, max over Arrays, lists and generators."""

from mazurka.model import Array, Int, choose

a = Array(Int[0, 9], 3, [1, 2, 3])
names = [10, 20, 30]


def f():
    t: Int[0, 999] = 0
    for i in reversed(range(3)):
        t = t * 10 + i
    assert t == 210
    t = 0
    for i in reversed(range(1, 8, 3)):
        t = t * 10 + i
    assert t == 741
    n = choose(0, 1, 2, 3)
    t = 0
    for i in reversed(range(n)):
        t = t * 10 + i
    assert t in (0, 0, 10, 210)
    t = 0
    for x in reversed(a):
        t = t * 10 + x
    assert t == 321
    t = 0
    for i, x in enumerate(a, 1):
        t += i * x
    assert t == 14
    for i, _ in enumerate(names, start=5):
        t += i
    assert t == 14 + 18
    t = 0
    for x, y in zip(a, names, strict=True):
        t += x * y
    assert t == 10 + 40 + 90
    assert sum(a) == 6 and sum(x * x for x in a) == 14
    assert sum(1 for x in a if x >= 2) == 2
    assert any(x == 2 for x in a) and not any(x == 7 for x in a)
    assert all(x > 0 for x in a) and not all(x > 1 for x in a)
    assert all(a) and any(a)
    assert max(x - 5 for x in a) == -2
    assert min(a) == 1
    assert 2 in range(3) and 3 not in range(3)
    assert all(a[i] < a[i + 1] for i in range(2))


threads = [f()]
