import threading

import pytest
from together import run_together
from wheezy.core.descriptors import attribute
from wheezy.core.pooling import EagerPool, LazyPool, Pooled

pytestmark = pytest.mark.mazurka


def test_pool_exclusive():
    """holds: a queue hands each item to one thread."""
    pool = EagerPool(list, 1)
    inside = []

    def use():
        with Pooled(pool) as item:
            item.append(1)
            inside.append(len(item))

    run_together(use, use)
    assert inside == [1, 2]
    assert pool.count == 1


def test_lazy_pool():
    """violated: the factory, which counts, runs outside of any lock."""
    made = {"n": 0}

    def make(item):
        if item is None:
            made["n"] += 1
            item = object()
        return item

    pool = LazyPool(make, 2)

    def use():
        with Pooled(pool):
            pass

    barrier = threading.Barrier(2)

    def use2():
        item = pool.acquire()
        barrier.wait()
        pool.get_back(item)

    run_together(use2, use2)
    assert made["n"] == 2


def test_attribute_twice():
    """violated: both threads compute the value."""

    class A:
        n = 0

        @attribute
        def value(self):
            A.n += 1
            return object()

    a = A()
    found = []
    run_together(lambda: found.append(a.value), lambda: found.append(a.value))
    assert found[0] is found[1]
