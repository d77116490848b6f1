# expect: violated assert
"""A new name below the `threads` list gets its value beside the threads, with all that the call
for it does."""

from mazurka.model import Int

x: Int[0, 2] = 0


def prepare():
    global x
    x = 2
    return 1


def worker():
    assert x == 2


threads = [worker()]
done = prepare()
