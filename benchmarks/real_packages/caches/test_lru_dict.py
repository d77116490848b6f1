import pytest
from lru import LRU
from together import run_together

pytestmark = pytest.mark.mazurka


def test_limit_of_size():
    """holds: each call of the C type makes room and stores without letting others run."""
    cache = LRU(1)
    run_together(lambda: cache.update({"a": 1}), lambda: cache.update({"b": 2}))
    assert len(cache) == 1


def test_setdefault_returns_one_object():
    """holds: `setdefault` is one call of C code."""
    cache = LRU(4)
    got = []
    run_together(
        lambda: got.append(cache.setdefault("key", object())),
        lambda: got.append(cache.setdefault("key", object())),
    )
    assert got[0] is got[1]


def test_look_then_read():
    """violated: the key may be evicted between `in` and `[]`."""
    cache = LRU(1)
    cache["key"] = 1

    def read():
        if "key" in cache:
            assert cache["key"] == 1

    def write():
        cache["other"] = 2

    run_together(read, write)
