"""Leader election in a ring by Chang and Roberts: the largest number comes home."""

from mazurka.model import Int, Queue

N = 4

links = [Queue(3) for _ in range(N)]
leader: Int[0, N] = 0


def node(me):
    global leader
    mine = me + 1
    links[(me + 1) % N].put(mine)
    while True:
        seen = links[me].get()
        if seen == 0:
            if mine != N:
                links[(me + 1) % N].put(0)
            return
        if seen == mine:
            leader = mine
            assert leader == N, "the wrong leader"
            links[(me + 1) % N].put(0)
        elif seen > mine:
            links[(me + 1) % N].put(seen)


threads = [node(i) for i in range(N)]
