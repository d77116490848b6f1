import pytest
from together import run_together
from vine import promise

pytestmark = pytest.mark.mazurka


def test_callbacks_run():
    """violated: `then` finds the promise unready, which becomes ready and has no listeners yet."""
    made = promise()
    heard = []
    run_together(lambda: made.then(heard.append), lambda: made(1))
    assert heard == [1]


def test_promises_of_their_own():
    """holds: promises share nothing."""
    first, second = promise(), promise()
    heard = []
    first.then(heard.append)
    second.then(heard.append)
    run_together(lambda: first(1), lambda: second(2))
    assert sorted(heard) == [1, 2]
