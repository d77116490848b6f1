# expect: holds
"""A branch whose condition is known chooses definitions and threads."""

from mazurka.model import Int

FAIR = 1
x: Int[0, 5] = 0

if FAIR:

    def step():
        return 1

else:

    def step():
        return 5


def worker():
    global x
    x += step()
    assert x <= 2


if FAIR > 1:
    x = 2
    threads = [worker()]
else:
    threads = [worker(), worker()]
