import pytest
from together import run_together
from uhashring import HashRing

pytestmark = pytest.mark.mazurka


def test_get_node():
    """holds: nobody changes the ring."""
    ring = HashRing(["a", "b"], vnodes=2)
    found = []
    run_together(lambda: found.append(ring.get_node("k")), lambda: found.append(ring.get_node("k")))
    assert found[0] == found[1]


def test_add_node_while_get():
    """violated: a key in _keys before, or after, it is in _ring; positions move."""
    ring = HashRing(["a", "b"], vnodes=2)
    found = []
    run_together(lambda: found.append(ring.get_node("k")), lambda: ring.remove_node("a"))
    assert found[0] in ("a", "b")


def test_add_two():
    """violated: both extend and sort the keys."""
    ring = HashRing(["a"], vnodes=1)
    run_together(lambda: ring.add_node("b"), lambda: ring.add_node("c"))
    assert len(ring.get_points()) == len(set(ring.get_points()))
    assert sorted(ring.get_nodes()) == ["a", "b", "c"]
    assert len(ring.runtime._keys) == len(ring.runtime._ring)
