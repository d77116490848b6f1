"""Paper 004, Fig. 1: x is protected by lk, but not at 5b."""

from mazurka.model import Int, Mutex

FIRSTS = 1  # copies of the first thread

a: Int[0, 4] = 0
z: Int[0, 5] = 0
x: Int[0, 6] = 0
lk = Mutex()


def first():
    global a, x
    a = 0  # 1a
    lk.acquire()  # 2a
    x = 1  # 3a
    lk.release()  # 4a
    a = 4  # 5a


def second():
    global z, x
    z = 5  # 1b
    lk.acquire()  # 2b
    x = 2  # 3b
    lk.release()  # 4b
    x = 6  # 5b


threads = [first() for _ in range(FIRSTS)] + [second()]
