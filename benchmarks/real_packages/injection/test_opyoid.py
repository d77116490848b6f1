import pytest
from opyoid import Injector, Module
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    made = 0

    def __init__(self):
        Service.made += 1


class Bindings(Module):
    def configure(self):
        self.bind(Service)


def test_singleton():
    """holds: SingletonScopedProvider makes the instance under its lock."""
    injector = Injector([Bindings])
    found = []
    run_together(
        lambda: found.append(injector.inject(Service)),
        lambda: found.append(injector.inject(Service)),
    )
    assert found[0] is found[1]
    assert Service.made == 1
