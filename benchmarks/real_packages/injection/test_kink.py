import pytest
from kink import Container
from together import run_together

pytestmark = pytest.mark.mazurka


def test_made_once():
    """violated: a service is looked for among those that are there, and made, without a lock."""
    container = Container()
    container["service"] = lambda _: object()
    found = []
    run_together(*[lambda: found.append(container["service"])] * 2)
    assert found[0] is found[1]


def test_replaced_while_it_is_read():
    """violated: a service is found among those that are there, and gone when it is fetched."""
    container = Container()
    container["service"] = lambda _: 1
    assert container["service"] == 1
    found = []
    run_together(
        lambda: container.__setitem__("service", 2), lambda: found.append(container["service"])
    )
    assert found[0] in (1, 2)


def test_values():
    """holds: these are two entries of a dictionary."""
    container = Container()
    run_together(lambda: container.__setitem__("a", 1), lambda: container.__setitem__("b", 2))
    assert (container["a"], container["b"]) == (1, 2)
