import inject
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    pass


def test_singleton():
    """holds: a binding looks again under the lock before it calls the constructor."""
    inject.clear_and_configure(lambda binder: binder.bind_to_constructor("service", Service))
    found = []
    run_together(*[lambda: found.append(inject.instance("service"))] * 2)
    assert found[0] is found[1]


def prepare():
    if not inject.is_configured():
        inject.configure()


def test_asked_then_configured():
    """violated: is_configured and configure are two operations; the second call raises an error."""
    run_together(prepare, prepare)


def test_configured_once():
    """holds: configure_once does both under the lock."""
    found = []
    run_together(*[lambda: found.append(inject.configure_once())] * 2)
    assert found[0] is found[1]
