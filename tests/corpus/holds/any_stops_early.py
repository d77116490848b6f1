# expect: holds
"""`any` stops at the first item that holds."""

from mazurka.model import Array, Int

a = Array(Int[0, 1], 2, [1, 0])


def f():
    assert any(a), "a[0] is always 1"


def g():
    a[1] = 1


threads = [f(), g()]
