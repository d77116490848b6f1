# expect: holds
"""`a, b = b, a` at module level evaluates both sides first, above the list and in `main`."""

from mazurka.model import Int

a: Int[0, 3] = 1
b: Int[0, 3] = 2
a, b = b, a


def worker(first, second):
    assert first == 2 and second == 1


threads = [worker(a, b)]
a, b = b, a
assert a == 1 and b == 2
