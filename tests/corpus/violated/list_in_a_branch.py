# expect: violated assert
"""What follows the `threads` list within an `if` runs beside the threads, as it would outside."""

from mazurka.model import Int

FEW = 1
x: Int[0, 2] = 0


def worker():
    assert x == 2


if FEW:
    threads = [worker()]
    x = 2
else:
    threads = [worker(), worker()]
