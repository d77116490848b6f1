import pylru
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_keys():
    """violated: both threads may take the node at the tail for their keys; there is no lock."""
    cache = pylru.lrucache(2)
    run_together(lambda: cache.__setitem__("a", 1), lambda: cache.__setitem__("b", 2))
    assert (cache["a"], cache["b"]) == (1, 2)


def test_caches_of_their_own():
    """holds: the threads share nothing."""

    def use():
        cache = pylru.lrucache(1)
        cache["a"] = 1
        cache["b"] = 2
        assert list(cache.keys()) == ["b"]

    run_together(use, use)
