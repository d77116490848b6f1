# expect: holds
# check: --property assert,deadlock,race
"""An event hands over a value; no data race."""

from mazurka.model import Event, Int

filled = Event()
letter: Int[0, 7] = 0


def writer():
    global letter
    letter = 7
    filled.set()


def reader():
    filled.wait()
    assert letter == 7


threads = [writer(), reader(), reader()]
