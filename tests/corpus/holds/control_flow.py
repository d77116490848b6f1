# expect: holds
"""Loops with `break`, `continue` and `else`, chained conditions, conditional expressions."""

from mazurka.model import Int

trace: Int[0, 9999] = 0


def find(limit, wanted):
    for i in range(limit):
        if i == wanted:
            break
    else:
        return -1
    return i


def odd_sum(limit):
    total: Int[0, 100] = 0
    i: Int[0, 10] = 0
    while i < limit:
        i += 1
        if i % 2 == 0:
            continue
        total += i
    else:
        total += 50
    return total


def sign(x):
    if x < 0:
        return -1
    elif x == 0:
        return 0
    else:
        return 1


def main():
    global trace
    assert find(5, 3) == 3
    assert find(3, 5) == -1
    assert odd_sum(5) == 59
    assert sign(-7) == -1 and sign(0) == 0 and sign(7) == 1
    for i in range(5, 0, -2):
        trace = trace * 10 + i
    assert trace == 531
    trace = 1 if trace > 500 else 2
    assert trace == 1
    assert 0 < trace <= 1 < 2


threads = [main()]
