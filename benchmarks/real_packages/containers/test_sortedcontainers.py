import pytest
from sortedcontainers import SortedDict, SortedList, SortedSet
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_to_a_set():
    """violated: `add` looks into the set, and then adds to the set and to the list."""
    numbers = SortedSet()
    run_together(lambda: numbers.add(1), lambda: numbers.add(1))
    assert list(numbers) == [1]


def test_setdefault():
    """violated: `setdefault` looks and then stores; both threads may store."""
    values = SortedDict()
    got = []
    run_together(
        lambda: got.append(values.setdefault("key", object())),
        lambda: got.append(values.setdefault("key", object())),
    )
    assert got[0] is got[1]


def test_lists_of_their_own():
    """holds: two lists share nothing."""
    first, second = SortedList([3, 1]), SortedList([2])
    run_together(lambda: first.add(2), lambda: second.add(1))
    assert list(first) == [1, 2, 3]
    assert list(second) == [1, 2]


def test_readers():
    """holds: looking things up changes nothing."""
    numbers = SortedList([1, 2, 3])
    found = []
    run_together(lambda: found.append(numbers.bisect(2)), lambda: found.append(numbers.index(3)))
    assert found == [2, 2]
