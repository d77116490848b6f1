# expect: holds
"""Arrays of made-up semaphores and of events: a ring that passes a token."""

from mazurka.model import Array, Int, Semaphore

N = 3
turns = Array(Semaphore(0), N)
holder: Int[0, N - 1] = 0


def station(i):
    global holder
    for _ in range(2):
        turns[i].acquire()
        holder = i
        assert holder == i
        turns[(i + 1) % N].release()


def start():
    turns[0].release()


threads = [start()] + [station(i) for i in range(N)]
