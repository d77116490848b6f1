# expect: holds
"""Dekker's algorithm, the first correct mutual exclusion with reads and writes alone (1965).

Both threads insist on entering, but the one whose turn it is not steps back until the other has
been through.
"""

from mazurka.model import Array, Bool, Int

wants = Array(Bool, 2)
turn: Int[0, 1] = 0
visitor: Int[0, 1] = 0


def process(me):
    global turn, visitor
    other = 1 - me
    while True:
        wants[me] = True
        while wants[other]:
            if turn != me:
                wants[me] = False
                while turn != me:
                    pass
                wants[me] = True
        visitor = me  # the critical section
        assert visitor == me, "both are in the critical section"
        turn = other
        wants[me] = False


threads = [process(0), process(1)]
