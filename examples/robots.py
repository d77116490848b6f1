# expect: holds
"""Robots in an arena (Gueta, Flanagan, Yahav and Sagiv, "Cartesian Partial-Order Reduction", 2007,
figure 1).

Each robot moves along a diagonal and is reflected at the walls.  It takes its mark from the field
it leaves and puts one on the field it enters.  From (0, 0) a robot stays on the main diagonal; one
that starts at (4, 0) crosses it at (9, 9) and at (2, 2), and nowhere else.  So whoever finds a
mark on the field it enters is in row 9 or 2.

A loop has three steps: leave a field, move, look at a field and enter it.  Which fields a robot
touches depends on where it is, so that only a dynamic analysis sees how rarely two robots are in
each other's way.
"""

from mazurka.model import Array, Bool, Int, atomic

N = 12

arena = Array(Array(Bool, N), N)


def robot(start_x, start_y):
    x: Int[0, N - 1] = start_x
    y: Int[0, N - 1] = start_y
    step_x: Int[-1, 1] = 1
    step_y: Int[-1, 1] = 1
    while True:
        arena[x][y] = False
        with atomic():
            x += step_x
            y += step_y
            if x == N - 1 or x == 0:
                step_x = -step_x
            if y == N - 1 or y == 0:
                step_y = -step_y
        with atomic():
            assert not arena[x][y] or x == 9 or x == 2, "the robots meet elsewhere"
            arena[x][y] = True


threads = [robot(0, 0), robot(4, 0)]
