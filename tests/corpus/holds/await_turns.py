# expect: holds
# states: 7
"""Threads that wait for their turn.

Each of the three waits, passes its turn on and ends.  Only the one whose turn it is can move, so
there is one execution of six steps: seven states.
"""

from mazurka.model import Int, await_

turn: Int[0, 3] = 0


def player(me):
    global turn
    await_(turn == me)
    turn = me + 1


threads = [player(2), player(0), player(1)]
