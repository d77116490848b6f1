"""Two threads that change a number through one shared pointer (paper 003, figure 11).

`numbers` are the paper's x and y, `target` is its pointer p: the place of x or y.  The loops read
what the other thread may be about to change, and only the value of the pointer tells.  Transitions:
setting the pointer, each test with its body, the last test, the change with its assertion.
"""

from mazurka.model import Array, Int, atomic, yield_

N = 100
X = 0
Y = 1

numbers = Array(Int[3, 9], 2, [3, 4])
sums = Array(Int[0, 9 * N], 2)
target: Int[0, 1] = X


def thread(me, mine, read, amount):
    global target
    target = mine
    for _ in range(N):
        with atomic():
            sums[me] += numbers[read]
    yield_()
    with atomic():
        numbers[target] += amount
        assert 3 <= numbers[X] <= 9
        assert 3 <= numbers[Y] <= 9


threads = [thread(0, Y, X, 3), thread(1, X, Y, 2)]
