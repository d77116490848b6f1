# expect: violated exception
"""Dividing by something that another thread sets to 0."""

from mazurka.model import Int

divisor: Int[0, 2] = 2
result: Int[0, 9] = 0


def worker():
    global result
    if divisor != 0:
        result = 8 // divisor


def spoiler():
    global divisor
    divisor = 0


threads = [worker(), spoiler()]
