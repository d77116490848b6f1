"""Leader election in a ring (Chang, Roberts): the largest number comes back to its owner."""

from mazurka.model import Int, Queue, fetch_add

N = 5

links = [Queue(N, Int[0, N]) for _ in range(N)]
elected: Int[0, N] = 0


def node(me):
    mine = me + 1
    links[(me + 1) % N].put(mine)
    known = False
    while not known:
        message = links[me].get()
        if message == mine:
            fetch_add(elected, 1)
            assert elected == 1, "two leaders"
            assert mine == N, "the leader is not the largest"
            links[(me + 1) % N].put(0)
            known = True
        elif message > mine:
            links[(me + 1) % N].put(message)
        elif message == 0:
            if mine != N:
                links[(me + 1) % N].put(0)
            known = True


threads = [node(i) for i in range(N)]
