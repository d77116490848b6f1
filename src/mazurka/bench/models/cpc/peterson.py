"""Peterson's mutual exclusion in a C program, as predicate abstraction leaves it.

The protocol's own variables are kept as they are.  What the threads compute outside and inside
the critical section is left with loops that end sooner or later, and with one fact each.
"""

from mazurka.model import Array, Bool, Int, choose

wants = Array(Bool, 2)
turn: Int[0, 1] = 0
visitor: Int[0, 1] = 0


def some_steps():
    """Two nested loops whose conditions the abstraction does not know, and a branch in between."""
    found = False
    while choose(False, True):
        if found:
            while choose(False, True):
                pass
        found = choose(False, True)


def process(me):
    global turn, visitor
    other = 1 - me
    while True:
        wants[me] = True
        some_steps()
        turn = other
        while wants[other] and turn == other:
            some_steps()
        visitor = me
        some_steps()
        assert visitor == me, "both are in the critical section"
        some_steps()
        wants[me] = False
        some_steps()


threads = [process(0), process(1)]
