# expect: violated assert "assertion failed: total != 3"
"""An argument may be chosen: `main` chooses, and starts the threads of the list."""

from mazurka.model import Int, choose

total: Int[0, 9] = 0


def worker(number=1):
    global total
    total += number
    assert total != 3


threads = [worker(choose(1, 2)), worker()]
