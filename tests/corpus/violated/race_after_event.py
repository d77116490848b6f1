# expect: violated race
# check: --property race
"""A write after the signal meets the read of the thread it has woken."""

from mazurka.model import Event, Int

x: Int[0, 3] = 0
ready = Event()


def writer():
    global x
    x = 1
    ready.set()
    x = 2


def reader():
    ready.wait()
    assert x >= 1


threads = [writer(), reader()]
