import pytest
from promise import Promise
from together import run_together

pytestmark = pytest.mark.mazurka


def test_own_promises():
    """holds: each thread its own promise."""
    found = []

    def f(x):
        found.append(Promise.resolve(x).then(lambda v: v + 1).get())

    run_together(lambda: f(1), lambda: f(2))
    assert sorted(found) == [2, 3]


def test_resolve_from_thread():
    """violated: `then` adds its callback after the promise was fulfilled."""
    p = Promise()
    found = []

    run_together(lambda: p.do_resolve(1), lambda: p.then(found.append))

    assert p.is_fulfilled
    assert found == [1]
