# expect: violated assert "seen in between"
"""A section that takes the lock on one branch only sees what the lock's holder is doing.

A reduction that counts the section as protected, because it holds the lock afterwards whenever
nobody is in between, would never look in between.
"""

from mazurka.model import Int, Mutex, atomic

m = Mutex()
x: Int[0, 1] = 0


def writer():
    global x
    with m:
        x = 1
        x = 0


def section():
    global x
    seen = False
    with atomic():
        if x == 1:
            seen = True
        else:
            m.acquire()
            x = 0
    assert not seen, "seen in between"
    m.release()


threads = [writer(), section()]
