"""Programs whose outcome differs with and without a global lock.

In each, one thread makes a single call of C code that goes through a container, and another one
changes the container by a single call that keeps an invariant.  With a global lock the first thread
sees the invariant.  Without one it may not: the documentation of CPython promises nothing
(*Thread Safety Guarantees*).

`tests/unit/runtime/python/test_traversals.py` explores them in both semantics, with three elements;
`benchmarks/free_threaded.py` runs them on a free-threaded interpreter, with many.
"""

from __future__ import annotations

import math
import operator
from array import array
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

Make = Callable[[int], Any]
Check = Callable[[Any, int], bool]
Change = Callable[[Any, int], object]


class Program(NamedTuple):
    """A container of a given size, what one thread sees of it, and what the other one does."""

    make: Make
    check: Check
    """Returns whether the invariant holds, by one call that goes through the container."""
    change: Change


# -- lists that are reversed ---------------------------------------------------------------------


def numbers(size: int) -> list[int]:
    return list(range(size))


def numbers_down(size: int) -> list[int]:
    return list(range(size - 1, -1, -1))


def one_at_end(size: int) -> list[int]:
    return [0] * (size - 1) + [1]


def zero_at_end(size: int) -> list[int]:
    return [1] * (size - 1) + [0]


def reverse(values: Any, size: int) -> None:
    values.reverse()


def finds_index(values: Any, size: int) -> bool:
    try:
        values.index(size - 1)
    except ValueError:
        return False
    return True


def finds_index_of(values: Any, size: int) -> bool:
    try:
        operator.indexOf(values, size - 1)
    except ValueError:
        return False
    return True


def fills_set(values: Any, size: int) -> bool:
    found: set[int] = set()
    found.update(values)
    return len(found) == size


def fills_deque(values: Any, size: int) -> bool:
    found: deque[int] = deque()
    found.extend(values)
    return len(set(found)) == size


def unpacks(values: Any, size: int) -> bool:
    first, *others = values
    return len({first, *others}) == size


def texts(size: int) -> list[bytes]:
    return [b"%d;" % number for number in range(size)]


def joins(values: Any, size: int) -> bool:
    return len(set(b"".join(values).split(b";"))) == size + 1


def makes_set_by_star(values: Any, size: int) -> bool:
    return len({*values}) == size


LISTS: dict[str, Program] = {
    "x in l": Program(numbers, lambda v, n: n - 1 in v, reverse),
    "x not in l": Program(numbers, lambda v, n: not (n - 1 not in v), reverse),
    "l.index(x)": Program(numbers, finds_index, reverse),
    "l.count(x)": Program(numbers, lambda v, n: v.count(n - 1) == 1, reverse),
    "sum(l)": Program(numbers, lambda v, n: sum(v) == n * (n - 1) // 2, reverse),
    "min(l)": Program(numbers_down, lambda v, n: min(v) == 0, reverse),
    "max(l)": Program(numbers, lambda v, n: max(v) == n - 1, reverse),
    "any(l)": Program(one_at_end, lambda v, n: any(v), reverse),
    "all(l)": Program(zero_at_end, lambda v, n: not all(v), reverse),
    "set(l)": Program(numbers, lambda v, n: len(set(v)) == n, reverse),
    "frozenset(l)": Program(numbers, lambda v, n: len(frozenset(v)) == n, reverse),
    "{*l}": Program(numbers, makes_set_by_star, reverse),
    "deque(l)": Program(numbers, lambda v, n: len(set(deque(v))) == n, reverse),
    "dict.fromkeys(l)": Program(numbers, lambda v, n: len(dict.fromkeys(v)) == n, reverse),
    "s.union(l)": Program(numbers, lambda v, n: len(set().union(v)) == n, reverse),
    "s.update(l)": Program(numbers, fills_set, reverse),
    "q.extend(l)": Program(numbers, fills_deque, reverse),
    "a, *b = l": Program(numbers, unpacks, reverse),
    "math.fsum(l)": Program(numbers, lambda v, n: math.fsum(v) == n * (n - 1) // 2, reverse),
    "b''.join(l)": Program(texts, joins, reverse),
    "math.prod(l)": Program(zero_at_end, lambda v, n: math.prod(v) == 0, reverse),
    "operator.contains(l, x)": Program(numbers, lambda v, n: operator.contains(v, n - 1), reverse),
    "operator.indexOf(l, x)": Program(numbers, finds_index_of, reverse),
    "operator.countOf(l, x)": Program(
        numbers, lambda v, n: operator.countOf(v, n - 1) == 1, reverse
    ),
    "array('q', l)": Program(numbers, lambda v, n: len(set(array("q", v))) == n, reverse),
    "bytes(l)": Program(one_at_end, lambda v, n: bytes(v).count(1) == 1, reverse),
    "bytearray(l)": Program(one_at_end, lambda v, n: bytearray(v).count(1) == 1, reverse),
}


# -- dictionaries in which a value moves from one key to another ----------------------------------


def one_first(size: int) -> dict[int, int]:
    return {0: 1} | dict.fromkeys(range(1, size), 0)


def one_last(size: int) -> dict[int, int]:
    return dict.fromkeys(range(size - 1), 0) | {size - 1: 1}


def zero_last(size: int) -> dict[int, int]:
    return dict.fromkeys(range(size - 1), 1) | {size - 1: 0}


def minus_last(size: int) -> dict[int, int]:
    return dict.fromkeys(range(size - 1), 0) | {size - 1: -1}


def swap_ends(values: dict[int, int], size: int) -> None:
    values.update({0: values[size - 1], size - 1: values[0]})


VALUES: dict[str, Program] = {
    "sum(d.values())": Program(one_first, lambda d, n: sum(d.values()) == 1, swap_ends),
    "max(d.values())": Program(one_last, lambda d, n: max(d.values()) == 1, swap_ends),
    "min(d.values())": Program(minus_last, lambda d, n: min(d.values()) == -1, swap_ends),
    "any(d.values())": Program(one_last, lambda d, n: any(d.values()), swap_ends),
    "all(d.values())": Program(zero_last, lambda d, n: not all(d.values()), swap_ends),
    "x in d.values()": Program(one_last, lambda d, n: 1 in d.values(), swap_ends),
    "set(d.values())": Program(one_last, lambda d, n: 1 in set(d.values()), swap_ends),
    "frozenset(d.values())": Program(one_last, lambda d, n: 1 in frozenset(d.values()), swap_ends),
    "tuple(d.values())": Program(
        one_first, lambda d, n: tuple(d.values()).count(1) == 1, swap_ends
    ),
    "deque(d.values())": Program(
        one_first, lambda d, n: deque(d.values()).count(1) == 1, swap_ends
    ),
    "math.fsum(d.values())": Program(one_first, lambda d, n: math.fsum(d.values()) == 1, swap_ends),
    "array('b', d.values())": Program(
        one_first, lambda d, n: array("b", d.values()).count(1) == 1, swap_ends
    ),
}


# -- sets of which one element is exchanged -------------------------------------------------------


def one_to_size(size: int) -> set[int]:
    return set(range(1, size + 1))


def toggle_ends(values: set[int], size: int) -> None:
    values.symmetric_difference_update((0, size))


def negate_last(values: set[int], size: int) -> None:
    values.symmetric_difference_update((size, -size))


def has_one_end(values: Any, size: int) -> bool:
    return values.count(0) + values.count(size) == 1


SETS: dict[str, Program] = {
    "tuple(s)": Program(one_to_size, lambda s, n: has_one_end(tuple(s), n), toggle_ends),
    "deque(s)": Program(one_to_size, lambda s, n: has_one_end(deque(s), n), toggle_ends),
    "sum(s)": Program(one_to_size, lambda s, n: sum(s) - n * (n - 1) // 2 in (n, -n), negate_last),
    "array('q', s)": Program(one_to_size, lambda s, n: has_one_end(array("q", s), n), toggle_ends),
}


# -- deques that are rotated: an iteration that another thread disturbs raises an error -----------


def rotate(values: deque[int], size: int) -> None:
    values.rotate(1)


def survives(function: Callable[[Any], object]) -> Check:
    """Check that a call does not fail since the container has changed meanwhile."""

    def check(values: Any, size: int) -> bool:
        try:
            function(values)
        except RuntimeError:
            return False
        return True

    return check


def extend_list(values: Any) -> None:
    [].extend(values)


def list_by_star(values: Any) -> list[int]:
    return [*values]


DEQUES: dict[str, Program] = {
    "list(q)": Program(lambda n: deque(range(n)), survives(list), rotate),
    "tuple(q)": Program(lambda n: deque(range(n)), survives(tuple), rotate),
    "sorted(q)": Program(lambda n: deque(range(n)), survives(sorted), rotate),
    "sum(q)": Program(lambda n: deque(range(n)), survives(sum), rotate),
    "max(q)": Program(lambda n: deque(range(n)), survives(max), rotate),
    "set(q)": Program(lambda n: deque(range(n)), survives(set), rotate),
    "l.extend(q)": Program(lambda n: deque(range(n)), survives(extend_list), rotate),
    "[*q]": Program(lambda n: deque(range(n)), survives(list_by_star), rotate),
}


# -- byte arrays that are reversed ----------------------------------------------------------------


def bytes_at_end(size: int) -> bytearray:
    return bytearray(one_at_end(size))


BYTES: dict[str, Program] = {
    "sum(b)": Program(bytes_at_end, lambda b, n: sum(b) == 1, reverse),
    "max(b)": Program(bytes_at_end, lambda b, n: max(b) == 1, reverse),
    "list(b)": Program(bytes_at_end, lambda b, n: list(b).count(1) == 1, reverse),
    "tuple(b)": Program(bytes_at_end, lambda b, n: tuple(b).count(1) == 1, reverse),
}

DIFFERENT: dict[str, Program] = LISTS | VALUES | SETS | DEQUES | BYTES
"""Programs that fail without a global lock, and hold with one."""


# -- programs that hold in both -------------------------------------------------------------------


def is_either(values: Any, size: int) -> bool:
    return values in (numbers(size), numbers_down(size))


SAME: dict[str, Program] = {
    "l == m": Program(numbers, lambda v, n: v == numbers(n) or v == numbers_down(n), reverse),
    "list(l)": Program(numbers, lambda v, n: is_either(list(v), n), reverse),
    "l.copy()": Program(numbers, lambda v, n: is_either(v.copy(), n), reverse),
    "l[:]": Program(numbers, lambda v, n: is_either(v[:], n), reverse),
    "l + l": Program(numbers, lambda v, n: len(set((v + v)[:n])) == n, reverse),
    "tuple(l)": Program(numbers, lambda v, n: is_either([*tuple(v)], n), reverse),
    "sorted(l)": Program(numbers, lambda v, n: sorted(v) == numbers(n), reverse),
    "repr(l)": Program(
        numbers, lambda v, n: repr(v) in (repr(numbers(n)), repr(numbers_down(n))), reverse
    ),
    "list(d.values())": Program(one_first, lambda d, n: list(d.values()).count(1) == 1, swap_ends),
    "sorted(d.values())": Program(one_first, lambda d, n: sum(sorted(d.values())) == 1, swap_ends),
    "d.copy()": Program(one_first, lambda d, n: sum(d.copy().values()) == 1, swap_ends),
    "list(s)": Program(lambda n: set(range(n)), lambda s, n: has_one_end(list(s), n), toggle_ends),
    "s.copy()": Program(lambda n: set(range(n)), lambda s, n: len(s.copy()) == n, toggle_ends),
    "frozenset(s)": Program(one_to_size, lambda s, n: len(frozenset(s)) == n, toggle_ends),
    "x in q": Program(lambda n: deque(range(n)), lambda q, n: n - 1 in q, rotate),
    "q.count(x)": Program(lambda n: deque(range(n)), lambda q, n: q.count(0) == 1, rotate),
    "q.copy()": Program(lambda n: deque(range(n)), lambda q, n: len(set(q.copy())) == n, rotate),
    "x in b": Program(bytes_at_end, lambda b, n: 1 in b, reverse),
    "b.count(x)": Program(bytes_at_end, lambda b, n: b.count(1) == 1, reverse),
}
"""Programs that hold in both semantics: one step, by the documentation or the source."""
