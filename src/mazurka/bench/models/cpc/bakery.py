"""Lamport's bakery: customers draw numbers and are served in their order.

Everything is shared and nothing is locked, so hardly a step can be put off.  A customer comes
again or goes home, at most VISITS times, which keeps the numbers small.
"""

from mazurka.model import Array, Bool, Int, choose

N = 2
VISITS = 3

choosing = Array(Bool, N)
number = Array(Int[0, N * VISITS], N)
served: Int[0, N - 1] = 0


def draw(me):
    choosing[me] = True
    highest = 0
    for other in range(N):
        highest = max(highest, number[other])
    number[me] = highest + 1
    choosing[me] = False
    return highest + 1


def goes_first(other, me, mine):
    theirs = number[other]
    return theirs != 0 and (theirs < mine or (theirs == mine and other < me))


def customer(me):
    global served
    for _ in range(VISITS):
        mine = draw(me)
        for other in range(N):
            while choosing[other]:
                pass
            while goes_first(other, me, mine):
                pass
        served = me
        assert served == me, "two customers are served at the same time"
        number[me] = 0
        while choose(False, True):  # something else to do
            pass


threads = [customer(i) for i in range(N)]
