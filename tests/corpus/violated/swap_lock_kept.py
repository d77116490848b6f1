# expect: violated hang "add goes round a loop for ever"
"""A spin lock from `swap` that the second thread keeps: writing the same value changes nothing."""

from mazurka.model import Bool, Int, swap, yield_

locked: Bool = False
n: Int[0, 2] = 0


def add():
    global locked, n
    while swap(locked, True):
        yield_()
    n += 1
    seen = n
    locked = False
    assert 1 <= seen <= 2


def check():
    add()
    while swap(locked, True):
        pass
    assert n >= 1


threads = [add(), check()]
