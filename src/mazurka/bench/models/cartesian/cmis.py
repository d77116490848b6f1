"""Concurrent merge-insertion sort, CMIS (paper 003, figure 9), of an array in descending order.

Parts of at most C elements are sorted by insertion, larger ones by two children and a merge.  There
are always seven threads, one for each call of a recursion that is two levels deep; each waits until
it is asked for.  A parent asks both children in one transition and waits for both in one test.

Every access to the array is a transition of its own; so are the two reads of a comparison, each
test of the inner loop of the insertion sort, and the ends of loops, which touch nothing shared.
"""

from mazurka.model import Array, Bool, Event, Int, assume, atomic, yield_

N = 8
C = 2
NODES = 7
HALF = (N - 1) // 2
QUARTER = HALF // 2
THREE_QUARTERS = (HALF + 1 + N - 1) // 2

array = Array(Int[1, N], N, [N - i for i in range(N)])
draft = Array(Int[0, N], N)
asked = Array(Bool, NODES, [k == 0 for k in range(NODES)])
done = Array(Event, NODES)


def sort(k, low, high):
    assume(asked[k])
    if high - low + 1 <= C:
        insertion_sort(low, high)
    else:
        with atomic():
            asked[2 * k + 1] = True
            asked[2 * k + 2] = True
        with atomic():
            done[2 * k + 1].wait()
            done[2 * k + 2].wait()
        merge(low, (low + high) // 2, high)
    with atomic():
        i: Int[0, N - 1] = 0
        for i in range(low, high):
            assert array[i] <= array[i + 1]
        done[k].set()


def insertion_sort(low, high):
    j: Int[0, N] = 0
    for j in range(low + 1, high + 1):
        key = array[j]
        i: Int[-1, N] = j - 1
        shifting = True
        while shifting:
            with atomic():
                shifting = i >= low and array[i] > key
            if shifting:
                array[i + 1] = array[i]
                i -= 1
        array[i + 1] = key
    yield_()


def merge(low, middle, high):
    yield_()
    place: Int[0, N] = 0
    for place in range(low, high + 1):
        draft[place] = array[place]
    yield_()
    i: Int[0, N] = low
    j: Int[0, N] = middle + 1
    k: Int[0, N] = low
    yield_()
    while i <= middle and j <= high:
        with atomic():
            from_left = draft[i] <= draft[j]
        if from_left:
            array[k] = draft[i]
            i += 1
        else:
            array[k] = draft[j]
            j += 1
        k += 1
    yield_()
    while i <= middle:
        array[k] = draft[i]
        i += 1
        k += 1
    yield_()
    yield_()


threads = [
    sort(0, 0, N - 1),
    sort(1, 0, HALF),
    sort(2, HALF + 1, N - 1),
    sort(3, 0, QUARTER),
    sort(4, QUARTER + 1, HALF),
    sort(5, HALF + 1, THREE_QUARTERS),
    sort(6, THREE_QUARTERS + 1, N - 1),
]
