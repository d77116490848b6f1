import pytest
from dogpile.cache import make_region
from together import run_together

pytestmark = pytest.mark.mazurka


def test_created_once():
    """holds: `get_or_create` makes the value under a mutex of the key."""
    region = make_region().configure("dogpile.cache.memory")
    made = []

    def make():
        made.append(1)
        return 5

    def use():
        region.get_or_create("key", make)

    run_together(use, use)
    assert made == [1]


def test_get_then_set():
    """violated: another thread may set the key between `get` and `set`."""
    region = make_region().configure("dogpile.cache.memory")
    region.set("key", 0)

    def add():
        region.set("key", region.get("key") + 1)

    run_together(add, add)
    assert region.get("key") == 2
