import pytest
from together import run_together
from zope.interface import Interface
from zope.interface.adapter import AdapterRegistry

pytestmark = pytest.mark.mazurka


class Wanted(Interface):
    pass


class Given(Interface):
    pass


def test_two_names():
    """violated: both threads may make the dictionary of the interface, and one of them is lost."""
    registry = AdapterRegistry()
    run_together(
        lambda: registry.register([Given], Wanted, "a", 1),
        lambda: registry.register([Given], Wanted, "b", 2),
    )
    assert registry.lookup([Given], Wanted, "a") == 1
    assert registry.lookup([Given], Wanted, "b") == 2
