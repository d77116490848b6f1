# expect: violated assert "both are in the critical section"
"""Peterson's algorithm with two lines swapped.

The order of two writes is all that separates a correct algorithm from a broken one: here each
thread gives way *before* it says that it wants to enter.  One thread gives way and is overtaken;
when it comes back it is the other one whose `turn` it is no longer.
"""

from mazurka.model import Array, Bool, Int

wants = Array(Bool, 2)
turn: Int[0, 1] = 0
visitor: Int[0, 1] = 0


def process(me):
    global turn, visitor
    other = 1 - me
    while True:
        turn = other  # too early
        wants[me] = True
        while wants[other] and turn == other:
            pass
        visitor = me  # the critical section
        assert visitor == me, "both are in the critical section"
        wants[me] = False


threads = [process(0), process(1)]
