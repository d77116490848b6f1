import pytest
from sortedcollections import NearestDict, OrderedSet, ValueSortedDict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_nearest_growing():
    """violated: the list of keys and the dictionary are two steps."""
    d = NearestDict({1: "a", 9: "b"})

    def drop():
        del d[9]

    run_together(lambda: d[8], drop)


def test_ordered_set():
    """violated: add: check, then count, then two stores."""
    s = OrderedSet("a")
    run_together(lambda: s.add("b"), lambda: s.add("b"))
    assert len(s) == 2
    assert list(s) == ["a", "b"]


def test_reads():
    """holds: nobody changes it."""
    d = ValueSortedDict({"a": 2, "b": 1})
    found = []
    run_together(lambda: found.append(list(d)), lambda: found.append(d["a"]))
    assert ["b", "a"] in found
