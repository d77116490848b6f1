import contextlib

import circuitbreaker
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def fail(breaker):
    with contextlib.suppress(OSError), breaker:
        raise OSError


def test_failures_are_counted():
    """violated: `_failure_count += 1` has no lock."""
    breaker = circuitbreaker.CircuitBreaker(failure_threshold=2)
    run_together(lambda: fail(breaker), lambda: fail(breaker))
    assert breaker.opened


def test_open_after_first_failure():
    """holds: with a threshold of one, every count reaches it."""
    breaker = circuitbreaker.CircuitBreaker(failure_threshold=1)
    run_together(lambda: fail(breaker), lambda: fail(breaker))
    assert breaker.opened
