# expect: violated deadlock
"""Two locks of an array, in both orders."""

from mazurka.model import Array, Mutex

locks = Array(Mutex, 2)


def both(first, second):
    with locks[first], locks[second]:
        pass


threads = [both(0, 1), both(1, 0)]
