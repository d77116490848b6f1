"""The MCS lock: a queue of threads, each of which spins on a flag of its own."""

from mazurka.model import Array, Bool, Int, cas, swap

N = 3

NONE = N
tail: Int[0, N] = N
after = Array(Int[0, N], N, [N for _ in range(N)])
waits = Array(Bool, N)
owner: Int[0, N] = N


def process(me):
    global owner
    while True:
        after[me] = NONE
        before = swap(tail, me)
        if before != NONE:
            waits[me] = True
            after[before] = me
            while waits[me]:
                pass
        owner = me
        assert owner == me, "two owners"
        if after[me] == NONE:
            if cas(tail, me, NONE):
                continue
            while after[me] == NONE:
                pass
        waits[after[me]] = False


threads = [process(i) for i in range(N)]
