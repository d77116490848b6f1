# expect: violated assert "set before the value"
"""The event is set before the value is written."""

from mazurka.model import Event, Int

filled = Event()
value: Int[0, 3] = 0


def writer():
    global value
    filled.set()
    value = 3


def reader():
    filled.wait()
    assert value == 3, "set before the value"


threads = [writer(), reader()]
