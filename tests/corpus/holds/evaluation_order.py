# expect: holds
"""Operands from left to right, the right side before the target, an index only once."""

from mazurka.model import Array, Int

n: Int[0, 99] = 0
calls: Int[0, 9] = 0
cells = Array(Int[0, 99], 4)


def bump():
    global n
    n += 1
    return n


def index():
    global calls
    calls += 1
    return calls


def main():
    global n
    n = n + bump()  # 0 was read before the call
    assert n == 1
    n += bump()  # so here: 1 was read before
    assert n == 3
    n = bump() * 10 + bump()
    assert n == 45
    cells[index()] += 5
    assert calls == 1 and cells[1] == 5
    cells[index()] = index()  # the value is computed first
    assert calls == 3 and cells[3] == 2
    assert 0 < index() < 5
    assert calls == 4
    cells[0], cells[1] = cells[1], cells[0]
    assert cells[0] == 5 and cells[1] == 0


threads = [main()]
