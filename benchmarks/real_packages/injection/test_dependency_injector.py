import pytest
from dependency_injector import providers
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    count = 0

    def __init__(self):
        Service.count += 1


def test_singleton():
    """violated: `Singleton` has no lock; a thread can be switched inside of the constructor."""
    provider = providers.Singleton(Service)
    made = []
    run_together(lambda: made.append(provider()), lambda: made.append(provider()))
    assert made[0] is made[1]


def test_thread_safe_singleton():
    """holds: `ThreadSafeSingleton` makes the object under a lock."""
    provider = providers.ThreadSafeSingleton(Service)
    made = []
    run_together(lambda: made.append(provider()), lambda: made.append(provider()))
    assert made[0] is made[1]


def test_factory():
    """holds: each call makes an object of its own."""
    provider = providers.Factory(dict)
    made = []
    run_together(lambda: made.append(provider(a=1)), lambda: made.append(provider(b=2)))
    assert sorted(map(str, made)) == ["{'a': 1}", "{'b': 2}"]
