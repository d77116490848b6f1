"""Xtango-QS: quicksort with the two halves sorted in parallel, with the skeleton of its animation.

The main thread splits the array, starts one thread for each half and waits for both; an element
belongs to whoever sorts its part.  Every exchange is shown: two bars are lifted and then change
places on a canvas with a lock of its own, which a painter looks at now and then.
"""

from mazurka.model import Array, Int, Mutex, join, spawn

N = 11
PICTURES = 2  # how often the painter looks

numbers = Array(Int[0, N - 1], N, [(3 * i + N // 2 + 3) % N for i in range(N)])
canvas = Mutex()
bars = Array(Int[0, N - 1], N, [(3 * i + N // 2 + 3) % N for i in range(N)])
lifted: Int[0, 4] = 0


def show_exchange(one, other):
    """Lift the bars; exchange them and put them down."""
    global lifted
    with canvas:
        lifted += 2
    with canvas:
        height = bars[one]
        bars[one] = bars[other]
        bars[other] = height
        lifted -= 2


def exchange(one, other):
    if one != other:
        numbers[one], numbers[other] = numbers[other], numbers[one]
        show_exchange(one, other)


def split(low: Int[0, N - 1], high: Int[0, N - 1]):
    """Move what is smaller than the last element to the front; where that element ends up."""
    pivot = numbers[high]
    border: Int[0, N - 1] = low
    for position in range(low, high):
        if numbers[position] < pivot:
            exchange(border, position)
            border += 1
    exchange(border, high)
    return border


def sort(low: Int[0, N], high: Int[-1, N - 1]):
    """Quicksort; the ends of the parts that are still to be sorted wait on a stack."""
    ends = Array(Int[0, N - 1], N)
    height: Int[0, N] = 0
    while low < high or height > 0:
        if low >= high:
            height -= 1
            low = high + 2
            high = ends[height]
        else:
            ends[height] = high
            height += 1
            high = split(low, high) - 1


def painter():
    for _ in range(PICTURES):
        total: Int[0, N * (N - 1)] = 0
        with canvas:
            for position in range(N):
                total += bars[position]
        assert total == N * (N - 1) // 2, "a bar is missing in the picture"


def main():
    paints = spawn(painter)
    middle = split(0, N - 1)
    left = spawn(sort, 0, middle - 1)
    right = spawn(sort, middle + 1, N - 1)
    join(left)
    join(right)
    join(paints)
    for position in range(N - 1):
        assert numbers[position] <= numbers[position + 1], "the numbers are not sorted"
    for position in range(N):
        assert bars[position] == numbers[position], "the animation shows something else"
    assert lifted == 0, "a bar hangs in the air"


main()
