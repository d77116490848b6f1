"""A cache with the states modified, shared and invalid, and a bus that one cache has at a time."""

from mazurka.model import Array, Int, Mutex, choose

N = 3
INVALID, SHARED, MODIFIED = 0, 1, 2

state = Array(Int[0, 2], N)
bus = Mutex()


def cache(me):
    while True:
        if choose(0, 1) == 0:
            with bus:
                for other in range(N):
                    if other != me and state[other] == MODIFIED:
                        state[other] = SHARED
                if state[me] == INVALID:
                    state[me] = SHARED
        else:
            with bus:
                for other in range(N):
                    if other != me:
                        state[other] = INVALID
                state[me] = MODIFIED
                assert state[(me + 1) % N] == INVALID, "two caches have the line"


threads = [cache(i) for i in range(N)]
