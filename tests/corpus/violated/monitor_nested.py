# expect: violated deadlock
"""Waiting inside a second lock: the wait lets go of one of them only."""

from mazurka.model import Bool, Condition, Mutex

outer = Mutex()
inner = Mutex()
changed = Condition(inner)
ready: Bool = False


def waiter():
    with outer:
        with inner:
            while not ready:
                changed.wait()


def giver():
    global ready
    with outer:
        with inner:
            ready = True
            changed.notify()


threads = [waiter(), giver()]
