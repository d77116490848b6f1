# expect: holds
"""A local keeps what was read; the shared variable may have moved on."""

from mazurka.model import Int

n: Int[0, 5] = 0


def writer():
    global n
    n = 5


def reader():
    seen = n
    copy = seen
    assert copy == seen
    assert seen == 0 or n == 5


threads = [writer(), reader()]
