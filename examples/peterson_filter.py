# expect: holds
"""The filter lock: Peterson's algorithm for N threads.

There are N - 1 waiting rooms, one behind the other, and each holds somebody back: in a room the
last thread to come in waits until nobody else is in this room or further on.  So of N threads at
most one gets through all the rooms.

`in_room[i]` is how far thread i has come (0: it is not interested), `last_in[r]` who entered room
r last.  Try `-D N=4` for a larger search.
"""

from mazurka.model import Array, Int

N = 3

in_room = Array(Int[0, N - 1], N)
last_in = Array(Int[0, N - 1], N)
visitor: Int[0, N - 1] = 0


def held_back(me, room):
    for other in range(N):
        if other != me and in_room[other] >= room:
            return last_in[room] == me
    return False


def process(me):
    global visitor
    while True:
        for room in range(1, N):
            in_room[me] = room
            last_in[room] = me
            while held_back(me, room):
                pass
        visitor = me  # the critical section
        assert visitor == me, "two threads are in the critical section"
        in_room[me] = 0


threads = [process(i) for i in range(N)]
