# expect: holds
"""Tuples are compared at the first element at which they differ, frozen records by their fields."""

from dataclasses import dataclass

from mazurka.model import Array, Int, choose

A, B, C = range(3)
LAST = (B, C)
values = Array(Int[0, 1], 4)


@dataclass(frozen=True, order=True)
class Stamp:
    time: Int[0, 1]
    owner: Int[0, 1] = 0


@dataclass(frozen=True)
class Other:
    time: Int[0, 1]


def compare():
    for k in range(4):
        values[k] = choose(A, B)
    a, b, c, d = values[0], values[1], values[2], values[3]
    less = a < c or (a == c and b < d)
    same = a == c and b == d
    assert ((values[0], b) < (values[2], d)) == less
    assert ((a, b) <= (c, d)) == (less or same)
    assert ((a, b) > (c, d)) == (not less and not same)
    assert ((a, b) >= (c, d)) == (not less)
    assert ((a, b) == (c, d)) == same
    assert ((a, b) != (c, d)) == (not same)
    assert ((a,) < (c, d)) == (a <= c)
    assert ((a, b) < (c,)) == (a < c)
    assert (a, b) != (a,) and (a,) > () and LAST == (1, 2)
    assert ((a, (b, 0)) < (c, (d, 0))) == less
    assert ((a, b) < (c, d) < (1, 1)) == (less and not (c == 1 and d == 1))
    first, second = Stamp(a, b), Stamp(c, owner=d)
    assert (first == second) == same and (first < second) == less
    assert first != Other(a) and Stamp(a) == Stamp(a, 0)


threads = [compare()]
