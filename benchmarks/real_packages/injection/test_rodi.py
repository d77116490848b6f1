import pytest
from rodi import Container
from together import run_together

pytestmark = pytest.mark.mazurka


class Service:
    pass


def test_singleton():
    """violated: SingletonFactoryTypeProvider finds no instance and makes one, without a lock."""
    services = Container().add_singleton(Service).build_provider()
    found = []
    run_together(
        lambda: found.append(services.get(Service)), lambda: found.append(services.get(Service))
    )
    assert found[0] is found[1]


def test_instance():
    """holds: an instance that is given is only read."""
    service = Service()
    services = Container().add_instance(service).build_provider()
    found = []
    run_together(
        lambda: found.append(services.get(Service)), lambda: found.append(services.get(Service))
    )
    assert found == [service, service]


def test_transient():
    """holds: nothing is kept."""
    services = Container().add_transient(Service).build_provider()
    found = []
    run_together(
        lambda: found.append(services.get(Service)), lambda: found.append(services.get(Service))
    )
    assert found[0] is not found[1]
