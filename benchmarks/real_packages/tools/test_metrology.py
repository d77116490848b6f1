import pytest
from metrology import Metrology
from metrology.instruments import Counter, Meter
from together import run_together

pytestmark = pytest.mark.mazurka


def test_counter():
    """holds: the count is an `AtomicLong`, and `+=` stores the same object again."""
    counter = Counter()
    run_together(counter.increment, counter.increment)
    assert counter.count == 2


def test_one_counter_for_a_name():
    """holds: the registry looks for the name and adds it under one lock."""
    found = []
    calls = [lambda: found.append(Metrology.counter("name"))] * 2
    run_together(*calls)
    assert found[0] is found[1]


def test_threads_one_after_the_other():
    """holds: nothing is concurrent, each thread is joined before the next one begins."""
    meter = Meter()

    def mark():
        for _ in range(10):
            meter.mark()

    for _ in range(10):
        run_together(mark)
    meter.stop()
    assert meter.count == 100
