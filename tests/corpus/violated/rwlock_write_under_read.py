# expect: violated assert "changed while reading"
"""A writer who only asked to read."""

from mazurka.model import Int, RWLock

lock = RWLock()
value: Int[0, 1] = 0


def reader():
    with lock.read():
        before = value
        assert value == before, "changed while reading"


def writer():
    global value
    with lock.read():
        value = 1


threads = [reader(), writer()]
