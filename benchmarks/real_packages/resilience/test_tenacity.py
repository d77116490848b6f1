import pytest
import tenacity
from together import run_together

pytestmark = pytest.mark.mazurka


def failing_once():
    """A function that fails at its first call."""
    attempts = []

    def function():
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError

    return function


def test_decorated_function():
    """violated: all threads share `wrapped.statistics`; a `clear` in between is a `KeyError`."""
    decorate = tenacity.retry(stop=tenacity.stop_after_attempt(2), reraise=True)
    flaky = failing_once()
    wrapped = decorate(lambda first: flaky() if first else None)
    run_together(lambda: wrapped(True), lambda: wrapped(False))


def test_statistics_of_decorated_function():
    """violated: the statistics are said to be those of the thread, but threads share them."""
    wrapped = tenacity.retry(stop=tenacity.stop_after_attempt(3))(lambda call: call())
    attempts = []

    def call(function):
        wrapped(function)
        attempts.append(wrapped.statistics.get("attempt_number"))

    run_together(lambda: call(failing_once()), lambda: call(int))
    assert sorted(attempts, key=str) == [1, 2]


def test_shared_retrying():
    """holds: a `Retrying` keeps what it needs in a `threading.local`."""
    retrying = tenacity.Retrying(stop=tenacity.stop_after_attempt(2), reraise=True)
    run_together(lambda: retrying(failing_once()), lambda: retrying(failing_once()))
