"""Xtango-DP: dining philosophers, with the skeleton of their animation.

Forks are taken in the order of their numbers, so nobody waits for ever.  Whatever happens is shown
on one canvas: a philosopher's picture moves to the table and back in frames.  Where the next frame
goes is worked out locally; drawing it is protected by the canvas's lock.
"""

from mazurka.model import Array, Int, Mutex

N = 3
MEALS = 1
FRAMES = 2  # of one movement
NEAR = 2  # how far a picture moves, in each direction

forks = Array(Mutex, N)
eating = Array(Int[0, 1], N)
canvas = Mutex()
place_x = Array(Int[0, NEAR], N)
place_y = Array(Int[0, NEAR], N)
drawn: Int[0, 7] = 0


def draw(i, x: Int[0, NEAR], y: Int[0, NEAR]):
    global drawn
    with canvas:
        place_x[i] = x
        place_y[i] = y
        drawn = (drawn + 1) % 8


def move(i, start: Int[0, NEAR], end: Int[0, NEAR]):
    """Draw the frames of a straight movement."""
    for frame in range(1, FRAMES + 1):
        way = (end - start) * frame
        x: Int[0, NEAR] = start + way // FRAMES
        y: Int[0, NEAR] = min(x + frame % 2, NEAR)
        draw(i, x, y)


def eat(i, left, right):
    assert eating[left] == 0, "the left fork is in two hands"
    assert eating[right] == 0, "the right fork is in two hands"
    eating[left] = 1
    eating[right] = 1
    move(i, NEAR, 1)
    eating[left] = 0
    eating[right] = 0


def philosopher(i):
    left = i
    right = (i + 1) % N
    first = min(left, right)
    second = max(left, right)
    for _ in range(MEALS):
        move(i, 0, NEAR)
        with forks[first], forks[second]:
            eat(i, left, right)
        move(i, 1, 0)
    with canvas:
        assert place_x[i] == 0, "the picture was moved by somebody else"


threads = [philosopher(i) for i in range(N)]
