import pytest
from antidote import antidote_lib_injectable, injectable, new_catalog
from together import run_together

pytestmark = pytest.mark.mazurka


def test_singleton():
    """holds: a catalog makes and stores what it provides under its lock."""
    catalog = new_catalog(include=[antidote_lib_injectable])

    @injectable(catalog=catalog)
    class Service:
        pass

    found = []
    run_together(lambda: found.append(catalog[Service]), lambda: found.append(catalog[Service]))
    assert found[0] is found[1]
