"""Robots in an arena: figure 1 of paper 003 (Gueta, Flanagan, Yahav, Sagiv, 2007).

Each robot moves along a diagonal and is reflected at the walls; it marks the field it is on.  Two
of them can meet in rows 9 and 2 only.  A round has three transitions: leave a field, move, look at
a field and enter it.
"""

from mazurka.model import Array, Bool, Int, atomic

N = 12
ROBOTS = 2

arena = Array(Array(Bool, N), N)
starts = [0, 4, 7]


def robot(start):
    x: Int[0, N - 1] = start
    y: Int[0, N - 1] = 0
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


threads = [robot(starts[i]) for i in range(ROBOTS)]
