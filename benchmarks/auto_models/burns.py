"""Burns' mutual exclusion with one bit a thread."""

from mazurka.model import Array, Bool, Int

N = 3

flag = Array(Bool, N)
inside: Int[0, N] = 0


def somebody_below(me):
    for j in range(me):
        if flag[j]:
            return True
    return False


def process(me):
    global inside
    while True:
        while True:
            flag[me] = False
            while somebody_below(me):
                pass
            flag[me] = True
            if not somebody_below(me):
                break
        for j in range(N):
            if j > me:
                while flag[j]:
                    pass
        inside = me
        assert inside == me, "two threads are in the critical section"
        flag[me] = False


threads = [process(i) for i in range(N)]
