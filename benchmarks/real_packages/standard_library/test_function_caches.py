import functools
import threading

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_same_key_twice():
    """violated: both miss; two objects."""

    @functools.lru_cache(maxsize=8)
    def make(x):
        return [x]

    found = []
    run_together(lambda: found.append(make(1)), lambda: found.append(make(1)))
    assert found[0] is found[1]


def test_other_keys():
    """holds: two keys."""

    @functools.lru_cache(maxsize=8)
    def make(x):
        return [x]

    found = []
    run_together(lambda: found.append(make(1)), lambda: found.append(make(2)))
    assert sorted(found) == [[1], [2]]


def test_info():
    """violated: the other may count first."""

    @functools.lru_cache(maxsize=8)
    def make(x):
        return [x]

    found = []
    run_together(lambda: found.append(make.cache_info().misses), lambda: make(2))
    assert found == [0]


def test_hit_is_seen_by_info():
    """violated: a hit is counted."""

    @functools.lru_cache(maxsize=8)
    def make(x):
        return [x]

    make(2)
    found = []
    run_together(lambda: found.append(make.cache_info().hits), lambda: make(2))
    assert found == [0]


def test_clear():
    """violated: cleared between."""

    @functools.cache
    def make(x):
        return [x]

    a = make(1)
    found = []
    run_together(lambda: found.append(make(1)), make.cache_clear)
    assert found[0] is a


def test_eviction():
    """violated: order of uses decides what is dropped."""

    @functools.lru_cache(maxsize=2)
    def make(x):
        return [x]

    a = make("a")
    make("b")

    run_together(lambda: make("a"), lambda: make("c"))
    assert make("a") is a


def test_eviction_by_two():
    """violated: a is dropped if both others are put in."""

    @functools.lru_cache(maxsize=2)
    def make(x):
        return [x]

    a = make("a")
    run_together(lambda: make("b"), lambda: make("c"))
    assert make("a") is a


def test_eviction_order():
    """violated: the use of a comes before or after that of b, then c drops the older one."""

    @functools.lru_cache(maxsize=2)
    def make(x):
        return [x]

    _a, b = make("a"), make("b")
    run_together(lambda: make("a"), lambda: make("b"))
    make("c")
    assert make("b") is b


def test_floats():
    """violated: 1.0 and True are equal keys."""

    @functools.lru_cache(maxsize=8)
    def make(x):
        return [x]

    found = []
    run_together(lambda: found.append(make(1.0)), lambda: found.append(make(True)))
    assert found[0] is found[1]


def test_keywords():
    """violated: same keyword."""

    @functools.lru_cache(maxsize=8)
    def make(x, *, y=1):
        return [x]

    found = []
    run_together(lambda: found.append(make(1, y=2)), lambda: found.append(make(1, y=2)))
    assert found[0] is found[1]


def test_method():
    """violated: both miss."""

    class A:
        @functools.lru_cache(maxsize=8)  # noqa: B019
        def make(self, x):
            return [x]

    a = A()
    found = []
    run_together(lambda: found.append(a.make(1)), lambda: found.append(a.make(1)))
    assert found[0] is found[1]


def test_locked():
    """holds: lock."""
    lock = threading.Lock()

    @functools.lru_cache(maxsize=1)
    def make(x):
        return [x]

    found = []

    def f():
        with lock:
            found.append(make(1))

    run_together(f, f)
    assert found[0] is found[1]
