# expect: holds
"""Peterson's mutual exclusion for two threads, with nothing but reads and writes.

Each thread says that it wants to enter, then politely gives way: the last one to write `turn`
waits.  A thread in the critical section signs as its `visitor`; if it did not find its own name a
moment later, somebody else would be there, too.

Swap the two lines before the loop, so that a thread gives way before it says that it wants to
enter, and Mazurka shows how both get in (`peterson_swapped.py`).
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
        turn = other
        while wants[other] and turn == other:
            pass
        visitor = me  # the critical section
        assert visitor == me, "both are in the critical section"
        wants[me] = False


threads = [process(0), process(1)]
