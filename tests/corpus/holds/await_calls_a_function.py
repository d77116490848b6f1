# expect: holds
"""A condition may call functions and look at objects; it is one step nevertheless."""

from mazurka.model import Array, Bool, Mutex, await_

done = Array(Bool, 3)
lock = Mutex()


def finished(first):
    for i in range(first, 3):
        if not done[i]:
            return False
    return not lock.locked()


def work(i):
    with lock:
        done[i] = True


def collect():
    await_(finished(0))
    assert not lock.locked()
    assert all(done)


threads = [collect(), work(0), work(1), work(2)]
