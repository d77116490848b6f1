import pytest
from cachelib import SimpleCache
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_succeeds_once():
    """holds: `add` looks and stores under the lock of the cache."""
    cache = SimpleCache()
    added = []
    run_together(
        lambda: added.append(cache.add("key", 1)), lambda: added.append(cache.add("key", 2))
    )
    assert sorted(added) == [False, True]


def test_inc():
    """holds: `inc` reads and stores under the lock."""
    cache = SimpleCache()
    cache.set("visits", 0)
    run_together(lambda: cache.inc("visits"), lambda: cache.inc("visits"))
    assert cache.get("visits") == 2


def test_get_then_set():
    """violated: `get` and `set` are two sections of the lock; an increment is lost."""
    cache = SimpleCache()
    cache.set("visits", 0)

    def visit():
        cache.set("visits", cache.get("visits") + 1)

    run_together(visit, visit)
    assert cache.get("visits") == 2
