# expect: violated range
"""A local variable that leaves its declared range, for one choice only."""

from mazurka.model import Int, choose


def worker():
    x: Int[0, 10] = choose(range(5))
    y: Int[0, 10] = x * 3
    assert y <= 12


threads = [worker()]
