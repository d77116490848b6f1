import pytest
from bidict import ValueDuplicationError, bidict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_value_for_two_keys():
    """violated: `put` looks for the value and then stores; both keys may get it."""
    names = bidict()
    refused = []

    def put(key):
        try:
            names.put(key, "value")
        except ValueDuplicationError:
            refused.append(key)

    run_together(lambda: put("a"), lambda: put("b"))
    assert len(names) == 1


def test_readers():
    """holds: the two dictionaries are only read."""
    names = bidict(a=1)
    found = []
    run_together(lambda: found.append(names["a"]), lambda: found.append(names.inv[1]))
    assert sorted(found, key=str) == [1, "a"]
