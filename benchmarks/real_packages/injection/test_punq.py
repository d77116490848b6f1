import punq
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    pass


def test_singleton():
    """violated: the table of singletons is read, and filled after the object was made."""
    container = punq.Container()
    container.register(Service, scope=punq.Scope.singleton)
    made = []
    run_together(
        lambda: made.append(container.resolve(Service)),
        lambda: made.append(container.resolve(Service)),
    )
    assert made[0] is made[1]


def test_transient():
    """holds: each call makes an object of its own."""
    container = punq.Container()
    container.register(Service)
    made = []
    run_together(
        lambda: made.append(container.resolve(Service)),
        lambda: made.append(container.resolve(Service)),
    )
    assert made[0] is not made[1]
