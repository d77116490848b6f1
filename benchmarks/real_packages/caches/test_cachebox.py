import pytest
from cachebox import LRUCache, cached
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_keys():
    """holds: each operation on the cache is one operation of C code."""
    cache = LRUCache(2)
    run_together(lambda: cache.__setitem__("a", 1), lambda: cache.__setitem__("b", 2))
    assert len(cache) == 2


def test_look_then_make():
    """violated: both threads may find that the key is missing."""
    cache = LRUCache(2)
    made = []

    def use():
        if "key" not in cache:
            made.append(1)
            cache["key"] = 1

    run_together(use, use)
    assert made == [1]


def test_cached_calls_once():
    """holds: the function is called under a lock of the key."""
    calls = []

    @cached(LRUCache(4))
    def double(number):
        calls.append(number)
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    assert calls == [1]


def test_cached_without_lock_calls_once():
    """violated: without a lock both threads may find nothing and call."""
    calls = []

    @cached(LRUCache(4), lock=False)
    def double(number):
        calls.append(number)
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    assert calls == [1]
