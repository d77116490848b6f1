import contextlib

import pybreaker
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def fail():
    raise OSError


def call_failing(breaker):
    with contextlib.suppress(OSError):
        breaker.call(fail)


def test_failures_are_counted():
    """holds: `call` runs the function and counts under the lock of the breaker."""
    breaker = pybreaker.CircuitBreaker(fail_max=3)
    run_together(lambda: call_failing(breaker), lambda: call_failing(breaker))
    assert breaker.fail_counter == 2


def test_storage_alone():
    """violated: `CircuitMemoryStorage` itself counts with `+=` and no lock."""
    storage = pybreaker.CircuitMemoryStorage(pybreaker.STATE_CLOSED)
    run_together(storage.increment_counter, storage.increment_counter)
    assert storage.counter == 2
