import pytest
from pyformance import MetricsRegistry
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_use_of_a_counter():
    """violated: `counter` looks for the name and makes a counter in two steps."""
    registry = MetricsRegistry()
    run_together(lambda: registry.counter("n").inc(), lambda: registry.counter("n").inc())
    assert registry.counter("n").get_count() == 2


def test_counter():
    """holds: a counter changes under its lock."""
    counter = MetricsRegistry().counter("n")
    run_together(counter.inc, counter.inc)
    assert counter.get_count() == 2
