import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge
from together import run_together

pytestmark = pytest.mark.mazurka


def test_counter():
    """holds: a value is changed under its lock."""
    counter = Counter("n", "text", registry=CollectorRegistry())
    run_together(counter.inc, counter.inc)
    assert counter._value.get() == 2


def test_labels():
    """holds: the child of a label is looked up and made under a lock."""
    counter = Counter("n", "text", ["kind"], registry=CollectorRegistry())
    run_together(lambda: counter.labels("a").inc(), lambda: counter.labels("a").inc())
    assert counter.labels("a")._value.get() == 2


def test_get_then_set():
    """violated: reading and setting a gauge are two sections of the lock."""
    gauge = Gauge("n", "text", registry=CollectorRegistry())

    def add():
        gauge.set(gauge._value.get() + 1)

    run_together(add, add)
    assert gauge._value.get() == 2
