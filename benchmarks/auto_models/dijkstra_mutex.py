"""Dijkstra's mutual exclusion of 1965."""

from mazurka.model import Array, Bool, Int

N = 3

wants = Array(Bool, N)
passed = Array(Bool, N)
turn: Int[0, N - 1] = 0
inside: Int[0, N - 1] = 0


def process(me):
    global turn, inside
    while True:
        wants[me] = True
        alone = False
        while not alone:
            passed[me] = False
            while turn != me:
                if not wants[turn]:
                    turn = me
            passed[me] = True
            alone = True
            for other in range(N):
                if other != me and passed[other]:
                    alone = False
        inside = me
        assert inside == me, "two threads are in the critical section"
        passed[me] = False
        wants[me] = False


threads = [process(i) for i in range(N)]
