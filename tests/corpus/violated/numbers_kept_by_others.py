# expect: violated assert
"""Each taker keeps the number of a giver: takers are alike, and so are givers, but the cells
that takers own name givers.  Sorting one class changes the keys of the other."""

from threading import Semaphore

from mazurka.model import Array, Int, atomic, await_

turn: Int[0, 3] = 0
taken_from = Array(Int[0, 3], 3)
taken = Semaphore(0)


def give(me):
    global turn
    for _ in range(2):
        with atomic():
            await_(turn == 0)
            turn = me


def take(j):
    global turn
    with atomic():
        await_(turn != 0)
        taken_from[j] = turn
        turn = 0
    taken.release()


def end():
    for _ in range(3):
        taken.acquire()
    assert turn == 9


threads = [give(1), give(2), give(3), take(0), take(1), take(2), end()]
