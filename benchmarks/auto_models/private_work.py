"""Threads that work on their own data under a lock of their own, and meet now and then."""

from mazurka.model import Array, Int, Mutex

N = 3
STEPS = 5

locks = Array(Mutex, N)
own = Array(Int[0, 7], N)
gate = Mutex()
total: Int[0, 7] = 0


def worker(me):
    global total
    for k in range(STEPS):
        with locks[me]:
            a = own[me]
            own[me] = (a + k) % 8
            b = own[me]
            own[me] = (b + a) % 8
    with gate:
        total = (total + own[me]) % 8


threads = [worker(i) for i in range(N)]
