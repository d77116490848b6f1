"""Szymanski's mutual exclusion with a waiting room, for four threads."""

from mazurka.model import Array, Int, assume, atomic

N = 4

flag = Array(Int[0, 4], N)
inside: Int[0, N] = 0


def contender(me):
    global inside
    while True:
        flag[me] = 1
        with atomic():
            assume(all(flag[other] < 3 for other in range(N)))
        flag[me] = 3
        with atomic():
            crowded = any(flag[other] == 1 for other in range(N))
        if crowded:
            flag[me] = 2
            with atomic():
                assume(any(flag[other] == 4 for other in range(N)))
        flag[me] = 4
        with atomic():
            assume(all(flag[other] < 2 for other in range(me)))
        inside += 1
        assert inside == 1, "two threads are in the critical section"
        inside -= 1
        with atomic():
            assume(all(flag[other] not in (2, 3) for other in range(me + 1, N)))
        flag[me] = 0


threads = [contender(i) for i in range(N)]
