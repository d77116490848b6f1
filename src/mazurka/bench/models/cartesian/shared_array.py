"""Two threads that fill one array, each every other element (paper 003, figure 10).

Every round reads a counter that each thread changes once, at its end; so no reduction that looks
at a thread's whole future can do anything.  A transition is the test of the loop with its body, or
with what follows the loop.
"""

from mazurka.model import Array, Int, atomic

N = 64

array = Array(Int[0, 4 * N], N)
index = Array(Int[0, N + 1], 2, [0, 1])
counter: Int[1, 2 * N + 4] = 1


def filler(i):
    global counter
    while True:
        with atomic():
            if index[i] < N:
                array[index[i]] = counter + index[i]
                index[i] += 2
            else:
                counter = counter + 1 + index[1 - i]
                assert counter <= 2 * N + 4
                return


threads = [filler(0), filler(1)]
