# expect: holds
"""The variable of a comprehension is read once, however often it is used."""

from mazurka.model import Array, Int

a = Array(Int[0, 3], 1, [1])


def f():
    assert sum(x * x for x in a) in (1, 9)
    b = [x * x for x in a]
    assert b[0] in (1, 9)


def g():
    a[0] = 3


threads = [f(), g()]
