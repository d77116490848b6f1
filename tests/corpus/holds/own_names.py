# expect: holds
"""A function of the model hides what an import or a builtin of that name is."""

from mazurka.model import Int, join

x: Int[0, 9] = 0


def join(first, second):  # noqa: F811
    return first * second


def max(first, second):  # noqa: A001
    return first


def worker():
    global x
    x = join(2, 3) + max(1, 2)
    assert x == 7


threads = [worker()]
