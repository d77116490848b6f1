import injector
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    pass


def configure(binder):
    binder.bind(Service, scope=injector.singleton)


def test_singleton():
    """holds: the scope of singletons looks and makes under a global lock."""
    container = injector.Injector(configure)
    made = []
    run_together(
        lambda: made.append(container.get(Service)), lambda: made.append(container.get(Service))
    )
    assert made[0] is made[1]


def test_thread_local():
    """holds: each thread has an object of its own."""
    container = injector.Injector(lambda binder: binder.bind(Service, scope=injector.threadlocal))
    made = []
    run_together(
        lambda: made.append(container.get(Service)), lambda: made.append(container.get(Service))
    )
    assert made[0] is not made[1]
