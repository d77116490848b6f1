# expect: holds
"""Leader election in a ring of nodes: Dolev, Klawe and Rodeh (1982).

Each node sends messages to the next one only.  Nodes begin with different numbers, and the largest
one is to win.  In each round an active node learns the numbers of the two active nodes before it.
If the nearer one has the largest of the three, the node goes on with this number; else it becomes
passive and only passes messages on.  A node that gets its own number back has the only one left.

Each queue has one thread that puts and one that gets, so it does not matter who is faster:
`--strategy stubborn` follows one order of the steps, and the number of states grows linearly.

With `-D KEEP=1` a node that goes on keeps its own number: then the wrong one wins.
"""

from mazurka.model import Int, Queue

N = 4
KEEP = 0
FIRST, SECOND, WINNER = 0, 1, 2

ring = [Queue(maxsize=2, type=(Int[FIRST, WINNER], Int[0, N - 1])) for _ in range(N)]
leaders: Int[0, N] = 0


def node(me):
    global leaders
    incoming, outgoing = ring[me], ring[(me + 1) % N]
    number: Int[0, N - 1] = N - 1 - me // 2 if me % 2 else me // 2
    neighbour: Int[0, N - 1] = 0
    active = True
    outgoing.put((FIRST, number))
    while True:
        kind, value = incoming.get()
        if kind == WINNER:
            outgoing.put((WINNER, value))
            break
        if not active:
            outgoing.put((kind, value))
        elif kind == FIRST and value == number:
            assert value == N - 1, "the largest number must win"
            leaders += 1
            assert leaders == 1, "there must be one leader"
            outgoing.put((WINNER, value))
            incoming.get()
            break
        elif kind == FIRST:
            neighbour = value
            outgoing.put((SECOND, value))
        elif neighbour > number and neighbour > value:
            if not KEEP:
                number = neighbour
            outgoing.put((FIRST, number))
        else:
            active = False


threads = [node(i) for i in range(N)]
