"""Threads find the largest of arbitrary numbers of 32 bits by compare and swap.

Each goes on until its own number is not larger than the shared one.  With -D SWAPPED=0 a thread
looks first and writes then: a larger number may be overwritten by a smaller one.
"""

from mazurka.model import Array, Int, await_, cas, choose, fetch_add

SWAPPED = 1
THREADS = 2
MOST = 4294967295

largest: Int[0, MOST] = 0
numbers = Array(Int[0, MOST], THREADS)
finished: Int[0, THREADS] = 0


def offers(place):
    global largest
    mine = choose(range(MOST + 1))
    numbers[place] = mine
    seen = largest
    while seen < mine:
        if not SWAPPED:
            largest = mine
            break
        if cas(largest, seen, mine):
            break
        seen = largest
    fetch_add(finished, 1)


def looks():
    await_(finished == THREADS)
    for place in range(THREADS):
        assert numbers[place] <= largest, "a larger number was lost"


threads = [offers(place) for place in range(THREADS)] + [looks()]
