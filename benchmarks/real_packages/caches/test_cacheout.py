import pytest
from cacheout import Cache
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_keeps_the_first_value():
    """holds: `add` looks for the key and stores the value under the cache's lock."""
    cache = Cache(maxsize=4)
    run_together(lambda: cache.add("key", 1), lambda: cache.add("key", 2))
    assert cache.get("key") in (1, 2)
    assert len(cache) == 1


def test_default_of_get_is_called_once():
    """holds: `get` calls the default and stores its value under the cache's lock."""
    cache = Cache(maxsize=4)
    made = []

    def make(key):
        made.append(key)
        return key

    run_together(lambda: cache.get("key", default=make), lambda: cache.get("key", default=make))
    assert made == ["key"]


def test_memoize_calls_once():
    """violated: `memoize` looks, calls and stores in three steps."""
    calls = []

    @Cache(maxsize=4).memoize()
    def double(number):
        calls.append(number)
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    assert calls == [1]
