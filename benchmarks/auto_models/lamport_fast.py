"""Lamport's fast mutual exclusion: seven accesses where nobody else comes."""

from mazurka.model import Array, Bool, Int

N = 2

b = Array(Bool, N)
x: Int[0, N] = 0
y: Int[0, N] = 0
inside: Int[0, N] = 0


def process(me):
    global x, y, inside
    while True:
        b[me] = True
        x = me + 1
        if y != 0:
            b[me] = False
            while y != 0:
                pass
            continue
        y = me + 1
        if x != me + 1:
            b[me] = False
            for j in range(N):
                while b[j]:
                    pass
            if y != me + 1:
                while y != 0:
                    pass
                continue
        inside = me
        assert inside == me, "two threads are in the critical section"
        y = 0
        b[me] = False


threads = [process(i) for i in range(N)]
