import lazy_object_proxy
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_factory_is_called_once():
    """violated: the C code looks whether there is an object, and calls the factory."""
    calls = []

    def make():
        calls.append(1)
        return "made"

    proxy = lazy_object_proxy.Proxy(make)
    run_together(lambda: str(proxy), lambda: len(proxy))
    assert len(calls) == 1


def test_made_before():
    """holds: once the object is there, the proxy only reads."""
    proxy = lazy_object_proxy.Proxy(lambda: "made")
    assert str(proxy) == "made"
    found = []
    run_together(lambda: found.append(str(proxy)), lambda: found.append(len(proxy)))
    assert sorted(map(str, found)) == ["4", "made"]
