import threading

import cachetools
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_size_of_shared_cache():
    """violated: `Cache.__setitem__` adds to `currsize` without a lock, as documented."""
    cache = cachetools.Cache(maxsize=10)
    run_together(lambda: cache.update(a=1), lambda: cache.update(b=2))
    assert cache.currsize == len(cache)


def test_full_lru_cache():
    """violated: two threads evict the same oldest key, and the second finds it gone."""
    cache = cachetools.LRUCache(maxsize=1)
    cache["old"] = 0
    run_together(lambda: cache.update(a=1), lambda: cache.update(b=2))


def test_get_beside_pop():
    """violated: `get` looks for the key, and then reads it: a `KeyError` in between."""
    cache = cachetools.LRUCache(maxsize=4)
    cache["key"] = 1
    run_together(lambda: cache.get("key"), lambda: cache.pop("key", None))


def test_cached_with_lock_returns_one_object():
    """holds: with a lock, `cached` stores by `setdefault`, and returns what was stored first."""
    make = cachetools.cached({}, lock=threading.Lock())(lambda: object())
    made = []
    run_together(lambda: made.append(make()), lambda: made.append(make()))
    assert made[0] is made[1]


def test_cached_with_lock_calls_once():
    """violated: the lock is not held during the call, so both threads may call."""
    calls = []
    make = cachetools.cached({}, lock=threading.Lock())(lambda: calls.append(1))
    run_together(make, make)
    assert len(calls) == 1


def test_cached_with_condition_calls_once():
    """holds: with a condition, the second thread waits while the key is pending."""
    calls = []
    make = cachetools.cached({}, condition=threading.Condition())(lambda: calls.append(1))
    run_together(make, make)
    assert len(calls) == 1


def test_statistics_without_lock():
    """violated: hits and misses are counted with `+=` and no lock."""
    square = cachetools.cached({}, info=True)(lambda number: number * number)
    run_together(lambda: square(1), lambda: square(2))
    assert square.cache_info().misses == 2


def test_statistics_with_lock():
    """holds: hits and misses are counted while the lock is held."""
    square = cachetools.cached({}, lock=threading.Lock(), info=True)(lambda number: number)
    run_together(lambda: square(1), lambda: square(2))
    assert square.cache_info().misses == 2
