# expect: holds
# states: 4
"""Of several lists the last one counts, and `+=` adds to it; one thread reads, the other writes.

One step each of `writer` and `reader`, taken or not: 2 * 2 states.
"""

from mazurka.model import Int

QUIET = True
x: Int[0, 3] = 0


def noise():
    assert x > 5


def writer():
    global x
    x = 1


def reader():
    assert x < 2


threads = [noise(), noise()]
threads = [writer()]
threads += [reader()] if QUIET else [noise()]
