import pytest
from kombu.clocks import LamportClock
from kombu.utils.functional import LRUCache
from together import run_together

pytestmark = pytest.mark.mazurka


def test_clock():
    """holds: `forward` counts under the clock's lock."""
    clock = LamportClock()
    run_together(clock.forward, clock.forward)
    assert clock.value == 2


def test_incr():
    """holds: `incr` reads and stores under the mutex."""
    cache = LRUCache(limit=4)
    cache["n"] = "0"
    run_together(lambda: cache.incr("n"), lambda: cache.incr("n"))
    assert cache["n"] == "2"


def test_clock_of_which_the_value_is_set():
    """violated: `adjust` is safe, but reading and setting `value` takes no lock."""
    clock = LamportClock()

    def tick():
        clock.value = clock.value + 1

    run_together(tick, tick)
    assert clock.value == 2
