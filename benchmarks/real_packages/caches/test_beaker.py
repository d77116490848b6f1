import pytest
from beaker.cache import Cache
from beaker.container import MemoryNamespaceManager
from together import run_together

pytestmark = pytest.mark.mazurka


def test_namespaces_in_a_class():
    """holds: the registry of the class looks again under its mutex, and is empty in each run."""
    found = []
    get = MemoryNamespaceManager.namespaces.get
    run_together(*[lambda: found.append(get("things", dict))] * 2)
    assert found[0] is found[1]
    assert not found[0]


def test_get_then_put():
    """violated: get and put are two operations, so an update is lost."""
    cache = Cache("counts", type="memory")
    cache.put("n", 0)
    run_together(*[lambda: cache.put("n", cache.get("n") + 1)] * 2)
    assert cache.get("n") == 2
