# expect: holds
"""Lamport's bakery: draw a number, and wait until all smaller ones are served.

Numbers are drawn by looking at everybody else's, which takes time: two customers may draw the
same number (then the lower name goes first), and a customer who is still drawing must be waited
for.  Leave the `choosing` array out and mutual exclusion is lost: `-D DOORBELL=0`.

Each customer comes ROUNDS times, which keeps the numbers small.
"""

from mazurka.model import Array, Bool, Int

N = 2
ROUNDS = 2
DOORBELL = 1

choosing = Array(Bool, N)
number = Array(Int[0, N * ROUNDS], N)
served: Int[0, N - 1] = 0


def draw(me):
    if DOORBELL:
        choosing[me] = True
    highest = 0
    for other in range(N):
        highest = max(highest, number[other])
    number[me] = highest + 1
    choosing[me] = False


def goes_first(other, me):
    theirs = number[other]
    if theirs == 0:
        return False
    mine = number[me]
    return theirs < mine or (theirs == mine and other < me)


def customer(me):
    global served
    for _ in range(ROUNDS):
        draw(me)
        for other in range(N):
            while choosing[other]:
                pass
            while goes_first(other, me):
                pass
        served = me
        assert served == me, "two customers are served at the same time"
        number[me] = 0


threads = [customer(i) for i in range(N)]
