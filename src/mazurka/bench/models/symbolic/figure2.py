"""Paper 004, Fig. 2: no lock protects x, yet 6a and 6b do not get in each other's way."""

from mazurka.model import Int, Mutex

FIRSTS = 1  # copies of the first thread

a: Int[0, 1] = 0
b: Int[0, 1] = 0
x: Int[0, 1] = 0
y: Int[0, 1] = 0
z: Int[0, 2] = 0
lk1 = Mutex()
lk2 = Mutex()


def first():
    global a, x, y
    a = 1  # 1a
    lk1.acquire()  # 2a
    lk2.acquire()  # 3a
    y = 1  # 4a
    lk2.release()  # 5a
    x = 0  # 6a
    lk1.release()  # 7a


def second():
    global b, x, z
    b = 0  # 1b
    lk2.acquire()  # 2b
    lk1.acquire()  # 3b
    z = 2  # 4b
    lk1.release()  # 5b
    x = 1  # 6b
    lk2.release()  # 7b


threads = [first() for _ in range(FIRSTS)] + [second()]
