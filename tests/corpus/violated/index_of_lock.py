# expect: violated index
"""An array of locks, and a number that another thread has changed."""

from mazurka.model import Array, Int, Mutex

locks = Array(Mutex, 2)
which: Int[0, 2] = 0


def chooser():
    global which
    which = 2


def worker():
    locks[which].acquire()


threads = [chooser(), worker()]
