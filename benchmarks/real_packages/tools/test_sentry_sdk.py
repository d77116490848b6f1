import pytest
from sentry_sdk._lru_cache import LRUCache
from sentry_sdk._queue import Queue
from sentry_sdk.feature_flags import FlagBuffer
from together import run_together

pytestmark = pytest.mark.mazurka


def test_flags():
    """holds: the buffer has a lock."""
    b = FlagBuffer(10)
    run_together(lambda: b.set("a", True), lambda: b.set("b", False))
    assert sorted(f["flag"] for f in b.get()) == ["a", "b"]


def test_flags_capacity():
    """holds: capacity is kept under the lock."""
    b = FlagBuffer(1)
    run_together(lambda: b.set("a", True), lambda: b.set("b", False))
    assert len(b.get()) == 1


def test_lru():
    """violated: LRUCache itself has no lock: set when full deletes one."""
    c = LRUCache(1)
    c.set("x", 0)
    run_together(lambda: c.set("a", 1), lambda: c.set("b", 2))
    assert len(c.get_all()) == 1


def test_queue():
    """holds: put and get."""
    q = Queue(1)
    found = []

    def take():
        found.append(q.get())
        found.append(q.get())

    def give():
        q.put(1)
        q.put(2)

    run_together(give, take)
    assert found == [1, 2]


def test_queue_full():
    """violated: empty is looked at, then get_nowait raises."""
    q = Queue(5)
    q.put(1)

    def take():
        if not q.empty():
            q.get_nowait()

    run_together(take, take)
