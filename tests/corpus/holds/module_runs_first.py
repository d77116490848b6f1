# expect: holds
# states: 4
"""Statements above the list run before the threads start; each reader takes its two reads.

The array is filled and `size` is 3 in the initial state.  Two readers with one step each (`size`
is a constant by then, and so is what `total` returned): 2 * 2 states.
"""

from mazurka.model import Array, Int, Mutex

size = 2
size = 3
lock = Mutex()
xs = Array(Int[0, 9], size)
for i in range(size):
    xs[i] = i + 1
xs[0], xs[1] = xs[1], xs[0]


def total(start):
    with lock:
        return sum(xs) + start


expected = total(0)
while xs[2] < 5:
    xs[2] += 1


def reader(i):
    assert xs[0] == 2 and i == expected - 6 and size == 3


threads = [reader(0), reader(0)]
