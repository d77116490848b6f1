# expect: holds
"""Guarded atomic actions over arrays, as in a specification."""

from mazurka.model import Array, Int, assume, atomic

N = 3
pc = Array(Int[0, 2], N)
num = Array(Int[0, 1], N)


def proc(self):
    with atomic():
        pc[self] = 1
    with atomic():
        assume(all(num[j] == 0 for j in range(N)))
        num[self] = 1
        pc[self] = 2
    assert sum(num) == 1
    with atomic():
        assert sum(1 for j in range(N) if pc[j] == 2) == 1
        pc[self] = 0
        num[self] = 0


threads = [proc(i) for i in range(N)]
