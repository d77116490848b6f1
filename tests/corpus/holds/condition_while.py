# expect: holds
# check: --property assert,deadlock,race
"""Looking again after every wake-up."""

from mazurka.model import Condition, Int

changed = Condition()
tokens: Int[0, 2] = 0


def take():
    global tokens
    with changed:
        while tokens == 0:
            changed.wait()
        tokens -= 1


def give():
    global tokens
    with changed:
        tokens += 1
        changed.notify()


threads = [take(), take(), give(), give()]
