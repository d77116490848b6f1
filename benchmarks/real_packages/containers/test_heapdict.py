import pytest
from heapdict import heapdict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_insert():
    """violated: the position of an entry is the length read before it is appended."""
    heap = heapdict()
    run_together(lambda: heap.__setitem__("a", 1), lambda: heap.__setitem__("b", 2))
    assert [entry[2] for entry in heap.heap] == [0, 1]


def test_two_pop():
    """violated: both threads may take the same first entry."""
    heap = heapdict(a=1, b=2, c=3)
    popped = []
    run_together(lambda: popped.append(heap.popitem()), lambda: popped.append(heap.popitem()))
    assert sorted(popped) == [("a", 1), ("b", 2)]
