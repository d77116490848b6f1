"""Two threads add to each other's number: the sums are largest if they alternate.

Every order of the additions gives other sums, so nothing can be left out; -D LIMIT=144 is reached.
"""

from mazurka.model import Int

TIMES = 5
LIMIT = 145

first: Int[0, 4095] = 1
second: Int[0, 4095] = 1


def adds_second():
    global first
    for _ in range(TIMES):
        first = first + second


def adds_first():
    global second
    for _ in range(TIMES):
        second = second + first


def looks():
    largest = max(first, second)
    assert largest < LIMIT, "a sum is too large"


threads = [adds_second(), adds_first(), looks()]
