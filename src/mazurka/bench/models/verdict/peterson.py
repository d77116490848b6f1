"""Peterson's filter lock: N threads climb N - 1 rungs, on each of which the last one waits."""

from mazurka.model import Array, Int, assume, atomic

N = 4

level = Array(Int[0, N - 1], N)
last = Array(Int[0, N - 1], N)
inside: Int[0, N] = 0


def contender(me):
    global inside
    while True:
        for rung in range(1, N):
            level[me] = rung
            last[rung] = me
            for distance in range(1, N):
                with atomic():
                    assume(level[(me + distance) % N] < rung or last[rung] != me)
        inside += 1
        assert inside == 1, "two threads are in the critical section"
        inside -= 1
        level[me] = 0


threads = [contender(i) for i in range(N)]
