"""A token ring: whoever has the token may enter; meanwhile the others work for themselves."""

from mazurka.model import Int, Queue, yield_

N = 6
WORK = 3

links = [Queue(1, Int[0, 0]) for _ in range(N)]
inside: Int[0, N] = 0


def station(me):
    global inside
    if me == 0:
        links[1].put(0)
    while True:
        for _ in range(WORK):
            yield_()
        links[me].get()
        inside += 1
        assert inside == 1, "there are two tokens"
        inside -= 1
        links[(me + 1) % N].put(0)


threads = [station(i) for i in range(N)]
