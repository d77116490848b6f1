"""Peterson's mutual exclusion for N threads: N - 1 rungs, on each of which the last one waits."""

from mazurka.model import Array, Int, assume, atomic

N = 5

level = Array(Int[0, N - 1], N)
last = Array(Int[0, N - 1], N)
inside: Int[0, N] = 0


def contender(i):
    global inside
    while True:
        for rung in range(1, N):
            level[i] = rung
            last[rung] = i
            for distance in range(1, N):
                with atomic():
                    assume(level[(i + distance) % N] < rung or last[rung] != i)
        with atomic():
            inside += 1
        assert inside == 1, "two threads are in the critical section"
        with atomic():
            inside -= 1
        level[i] = 0


threads = [contender(i) for i in range(N)]
