# expect: violated assert
"""Lamport's bakery without the array `choosing`: two threads may draw the same number."""

from mazurka.model import Array, Int, await_

number = Array(Int[0, 2], 2)
inside: Int[-2, 2] = 0


def customer(i):
    global inside
    j = 1 - i
    other = number[j]
    number[i] = other + 1 if other < 2 else 2
    await_(number[j] == 0 or (number[i], i) < (number[j], j))
    inside += 1
    assert inside == 1
    inside -= 1
    number[i] = 0


threads = [customer(0), customer(1)]
