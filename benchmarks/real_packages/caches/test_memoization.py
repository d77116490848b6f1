import pytest
from memoization import cached
from together import run_together

pytestmark = pytest.mark.mazurka


def test_calls_once():
    """violated: the function is called outside of the lock."""
    calls = []

    @cached
    def double(number):
        calls.append(number)
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    assert calls == [1]


def test_statistics():
    """holds: hits and misses are counted under a lock."""

    @cached
    def double(number):
        return 2 * number

    run_together(lambda: double(1), lambda: double(1))
    information = double.cache_info()
    assert information.hits + information.misses == 2
