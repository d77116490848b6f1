import pytest
from ordered_set import OrderedSet
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_two():
    """violated: `add` stores the length as the index, and then appends; an index occurs twice."""
    things = OrderedSet()
    run_together(lambda: things.add("a"), lambda: things.add("b"))
    assert sorted(things.map.values()) == [0, 1]


def test_readers():
    """holds: nothing is changed."""
    things = OrderedSet("abc")
    found = []
    run_together(lambda: found.append(things.index("b")), lambda: found.append("c" in things))
    assert sorted(found) == [1, True]
