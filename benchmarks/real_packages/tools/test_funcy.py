import funcy
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_memoize_calls_once():
    """violated: `memoize` looks, calls and stores without a lock."""
    calls = []

    @funcy.memoize
    def double(number):
        calls.append(number)
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    assert calls == [1]


def test_once():
    """holds: `once` calls the function under a lock."""
    calls = []

    @funcy.once
    def start():
        calls.append(1)

    run_together(start, start)
    assert calls == [1]


def test_throttle():
    """violated: `throttle` reads the time of the last call and sets it in two steps."""
    calls = []

    @funcy.throttle(60)
    def tell():
        calls.append(1)

    run_together(tell, tell)
    assert calls == [1]
