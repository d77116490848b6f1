import pytest
import zict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_weights_of_lru():
    """holds: `LRU` changes its dictionaries and the sum of weights under its lock."""
    lru = zict.LRU(10, {})
    run_together(lambda: lru.__setitem__("a", 1), lambda: lru.__setitem__("b", 2))
    assert lru.total_weight == len(lru.d) == 2


def test_eviction():
    """holds: one thread evicts; the other waits, in a loop, until there is room again."""
    lru = zict.LRU(1, {})
    lru["old"] = 0
    run_together(lambda: lru.__setitem__("a", 1), lambda: lru.__setitem__("b", 2))
    assert lru.total_weight == len(lru.d) == 1


def test_look_then_read():
    """violated: another thread may evict the key between `in` and `[]`."""
    lru = zict.LRU(1, {})
    lru["key"] = 1

    def read():
        if "key" in lru:
            assert lru["key"] == 1

    run_together(read, lambda: lru.__setitem__("other", 2))
