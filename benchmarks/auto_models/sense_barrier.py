"""A barrier with a counter and a sense that turns round, used again and again."""

from mazurka.model import Array, Bool, Int, fetch_add

N = 3
ROUNDS = 2

count: Int[0, N] = 0
sense: Bool = False
at = Array(Int[0, ROUNDS], N)


def worker(me):
    global count, sense
    mine = False
    for _ in range(ROUNDS):
        at[me] = at[me] + 1
        mine = not mine
        if fetch_add(count, 1) == N - 1:
            count = 0
            sense = mine
        else:
            while sense != mine:
                pass
        other = at[(me + 1) % N]
        assert other >= at[me], "somebody was left behind"


threads = [worker(i) for i in range(N)]
