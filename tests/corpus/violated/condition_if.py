# expect: violated assert "no token left"
"""Takers look once; one is overtaken between its wake-up and the lock."""

from mazurka.model import Condition, Int

changed = Condition()
tokens: Int[0, 2] = 0


def take():
    global tokens
    with changed:
        if tokens == 0:
            changed.wait()
        assert tokens > 0, "no token left"
        tokens -= 1


def give():
    global tokens
    with changed:
        tokens += 1
        changed.notify()


threads = [take(), take(), give(), give()]
