# expect: holds
"""A recursive bubble sort on a shared array, by one thread."""

from mazurka.model import Array, Int

a = Array(Int[0, 5], 4, [3, 1, 2, 0])


def order(i, j):
    if a[i] > a[j]:
        a[i], a[j] = a[j], a[i]


def sort(low, high):
    if high - low < 2:
        return
    for i in range(low, high - 1):
        order(i, i + 1)
    sort(low, high - 1)


def main():
    sort(0, 4)
    for i in range(4):
        assert a[i] == i, "not sorted"


threads = [main()]
