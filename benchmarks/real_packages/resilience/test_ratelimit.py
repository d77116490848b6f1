import pytest
import ratelimit
from together import run_together

pytestmark = pytest.mark.mazurka


def test_limit():
    """holds: calls are counted under the decorator's lock."""
    calls = []

    @ratelimit.limits(calls=1, period=60, raise_on_limit=False)
    def call():
        calls.append(1)

    run_together(call, call)
    assert len(calls) == 1


def test_sleep_and_retry():
    """holds: the thread over the limit sleeps until the next period, and calls then."""
    calls = []

    @ratelimit.sleep_and_retry
    @ratelimit.limits(calls=1, period=1)
    def call():
        calls.append(1)

    run_together(call, call)
    assert len(calls) == 2
