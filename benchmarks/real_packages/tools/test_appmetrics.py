import pytest
from appmetrics import metrics
from appmetrics.exceptions import DuplicateMetricError
from appmetrics.meter import EWMA
from together import run_together

pytestmark = pytest.mark.mazurka


def test_new_metric():
    """holds: the registry is asked and filled under a lock, so one thread gets an error."""
    errors = []

    def create():
        try:
            metrics.new_gauge("temperature")
        except DuplicateMetricError as error:
            errors.append(error)

    run_together(create, create)
    assert len(errors) == 1


def test_counter():
    """holds: the counter has a lock."""
    counter = metrics.new_counter("hits")
    run_together(*[lambda: counter.notify(1)] * 2)
    assert counter.raw_data() == 2


def test_tick_of_an_average():
    """violated: tick reads the value before it takes the lock, and sets it to 0 then."""
    average = EWMA(1, 1)
    average.update(1)
    run_together(lambda: average.update(10), average.tick)
    assert average.rate + average.value == 11
