# expect: violated deadlock
"""A bounded buffer whose wake-up call reaches the wrong thread.

One condition serves producers and consumers alike, and `notify` wakes one thread, whoever has
waited longest.  A consumer that has just made room may so wake another consumer, which finds
nothing and waits again; the producer that could go on is never told.  In the end everybody
waits.

`-D ALL=1` uses `notify_all` instead, and everything is fine.
"""

from mazurka.model import Condition, Int

SIZE = 1
ALL = 0

changed = Condition()
count: Int[0, SIZE] = 0


def tell():
    if ALL:
        changed.notify_all()
    else:
        changed.notify()


def producer():
    global count
    while True:
        with changed:
            while count == SIZE:
                changed.wait()
            count += 1
            tell()


def consumer():
    global count
    while True:
        with changed:
            while count == 0:
                changed.wait()
            count -= 1
            tell()


threads = [producer(), consumer(), consumer()]
