import pytest
from together import run_together
from wheezy.caching.memory import MemoryCache

pytestmark = pytest.mark.mazurka


def test_cache_add():
    """holds: add stores under the lock if the key is not there."""
    c = MemoryCache()
    found = []
    run_together(lambda: found.append(c.add("k", 1, 100)), lambda: found.append(c.add("k", 2, 100)))
    assert sorted(found) == [False, True]


def test_cache_get_then_set():
    """violated: get, compute, set."""
    c = MemoryCache()
    c.set("n", 0, 100)

    def bump():
        c.set("n", c.get("n") + 1, 100)

    run_together(bump, bump)
    assert c.get("n") == 2


def test_cache_incr():
    """holds: incr works under the lock."""
    c = MemoryCache()
    c.set("n", 0, 100)
    run_together(lambda: c.incr("n"), lambda: c.incr("n"))
    assert c.get("n") == 2
