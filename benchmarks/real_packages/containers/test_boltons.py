import pytest
from boltons.cacheutils import LRU, ThresholdCounter, cachedproperty
from boltons.queueutils import HeapPriorityQueue
from together import run_together

pytestmark = pytest.mark.mazurka


class Page:
    def __init__(self):
        self.loads = []

    @cachedproperty
    def body(self):
        self.loads.append(1)
        return "text"


def test_lru():
    """holds: `LRU` has a reentrant lock."""
    cache = LRU(max_size=1)
    run_together(lambda: cache.__setitem__("a", 1), lambda: cache.__setitem__("b", 2))
    assert len(cache) == 1


def test_cachedproperty():
    """violated: `cachedproperty` has no lock; both threads compute."""
    page = Page()
    run_together(lambda: page.body, lambda: page.body)
    assert len(page.loads) == 1


def test_threshold_counter():
    """violated: `add` counts with `+=` and no lock."""
    counter = ThresholdCounter(threshold=0.1)
    run_together(lambda: counter.add("a"), lambda: counter.add("a"))
    assert counter["a"] == 2


def test_priority_queue():
    """violated: the entry is stored in the map and pushed to the heap in two steps, and `len`
    counts the first before `pop` finds the second."""
    queue = HeapPriorityQueue()

    def take():
        if len(queue):
            queue.pop()

    run_together(lambda: queue.add("task"), take)
