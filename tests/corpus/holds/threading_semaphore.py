# expect: holds
"""`threading.Semaphore` and `BoundedSemaphore`, arguments given by `args`."""

import threading

from mazurka.model import Int

ready = threading.Semaphore(0)
places = threading.BoundedSemaphore(value=1)
order: Int[0, 2] = 0


def first(number):
    global order
    with places:
        order = number
    ready.release()


def second(number):
    global order
    ready.acquire()
    with places:
        assert order == number - 1
        order = number


one = threading.Thread(target=first, args=(1,))
two = threading.Thread(target=second, args=(2,))
one.start()
two.start()
one.join()
two.join()
assert order == 2
