"""Dining philosophers who think and eat for as long as they like.

A fork is a variable that names its holder, taken by a test and an assignment in one step and put
down by an assignment.  Everybody takes the fork with the smaller number first, so nobody starves.
"""

from mazurka.model import Array, Int, assume, atomic, choose

N = 8
FREE = 0

holder = Array(Int[FREE, N], N)


def a_while():
    while choose(False, True):
        pass


def pick_up(fork, me):
    with atomic():
        assume(holder[fork] == FREE)
        holder[fork] = me


def put_down(fork, me):
    with atomic():
        assert holder[fork] == me, "somebody has taken the fork away"
        holder[fork] = FREE


def philosopher(i):
    me = i + 1
    first, second = min(i, (i + 1) % N), max(i, (i + 1) % N)
    while True:
        pick_up(first, me)
        pick_up(second, me)
        a_while()  # eat
        put_down(second, me)
        put_down(first, me)
        a_while()  # think


threads = [philosopher(i) for i in range(N)]
