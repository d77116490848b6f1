import backoff
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_each_call_has_its_tries():
    """holds: tries, waits and times are local variables of each call."""
    tries = []

    @backoff.on_exception(backoff.constant, OSError, max_tries=2, interval=0, jitter=None)
    def function(own):
        own.append(1)
        tries.append(1)
        if len(own) == 1:
            raise OSError

    run_together(lambda: function([]), lambda: function([]))
    assert len(tries) == 4


def test_counter_of_a_handler():
    """violated: handlers are called without a lock, so a count in one of them is lost."""
    count = {"retries": 0}

    def note(details):
        count["retries"] += 1

    @backoff.on_exception(
        backoff.constant, OSError, max_tries=2, interval=0, jitter=None, on_backoff=note
    )
    def function(own):
        own.append(1)
        if len(own) == 1:
            raise OSError

    run_together(lambda: function([]), lambda: function([]))
    assert count["retries"] == 2
