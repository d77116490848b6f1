import pytest
from benedict import benedict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_read_a_nested_dictionary():
    """violated: a set of the class names the dictionaries that are being wrapped, for all threads.

    A thread that reads the same one meanwhile gets a ValueError for a cyclic structure.
    """
    d = benedict({"a": {"b": 1}})
    found = []
    run_together(lambda: found.append(d["a.b"]), lambda: found.append(d["a.b"]))
    assert found == [1, 1]


def test_read_a_value():
    """holds: a value that is no dictionary is not wrapped."""
    d = benedict({"a": 1, "b": 2})
    found = []
    run_together(lambda: found.append(d["a"]), lambda: found.append(d["b"]))
    assert sorted(found) == [1, 2]


def test_set_below_a_new_key():
    """violated: both find no dictionary at the key, and store one each."""
    d = benedict()

    def store(key):
        d[f"a.{key}"] = 1

    run_together(lambda: store("b"), lambda: store("c"))
    assert sorted(d["a"]) == ["b", "c"]
