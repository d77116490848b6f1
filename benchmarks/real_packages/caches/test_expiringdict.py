import pytest
from expiringdict import ExpiringDict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_limit_of_length():
    """holds: `__setitem__` makes room and stores under the dictionary's lock."""
    cache = ExpiringDict(max_len=1, max_age_seconds=60)
    run_together(lambda: cache.update(a=1), lambda: cache.update(b=2))
    assert len(cache) == 1


def test_look_then_read():
    """violated: `in` and `[]` are two sections of the lock; the key may go in between."""
    cache = ExpiringDict(max_len=4, max_age_seconds=60)
    cache["key"] = 1

    def read():
        if "key" in cache:
            assert cache["key"] == 1

    run_together(read, lambda: cache.pop("key"))


def test_pop_returns_a_value_once():
    """holds: `pop` reads and deletes under the lock."""
    cache = ExpiringDict(max_len=4, max_age_seconds=60)
    cache["key"] = 1
    popped = []
    run_together(lambda: popped.append(cache.pop("key")), lambda: popped.append(cache.pop("key")))
    assert sorted(popped, key=str) == [1, None]
