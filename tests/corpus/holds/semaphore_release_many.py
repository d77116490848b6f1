# expect: holds
"""`release(2)` lets two waiting threads go on."""

from mazurka.model import Int, Semaphore, fetch_add

start = Semaphore(0)
done = Semaphore(0)
arrived: Int[0, 2] = 0


def runner():
    start.acquire()
    fetch_add(arrived, 1)
    done.release()


def starter():
    start.release(2)
    done.acquire()
    done.acquire()
    assert arrived == 2


threads = [runner(), runner(), starter()]
