import jinja2
import pytest
from jinja2.utils import Cycler, LRUCache
from together import run_together

pytestmark = pytest.mark.mazurka


def test_render():
    """holds: a template is not changed by rendering."""
    template = jinja2.Template("{{ a }}!")
    shown = []
    run_together(
        lambda: shown.append(template.render(a=1)), lambda: shown.append(template.render(a=2))
    )
    assert sorted(shown) == ["1!", "2!"]


def test_lru_cache():
    """holds: the cache stores under its lock."""
    cache = LRUCache(1)
    run_together(lambda: cache.__setitem__("a", 1), lambda: cache.__setitem__("b", 2))
    assert len(cache) == 1


def test_setdefault():
    """violated: `setdefault` reads and stores in two sections of the lock."""
    cache = LRUCache(4)
    got = []
    run_together(
        lambda: got.append(cache.setdefault("key", object())),
        lambda: got.append(cache.setdefault("key", object())),
    )
    assert got[0] is got[1]


def test_cycler():
    """violated: `next` reads and moves its position in two steps."""
    cycler = Cycler("odd", "even")
    shown = []
    run_together(lambda: shown.append(cycler.next()), lambda: shown.append(cycler.next()))
    assert sorted(shown) == ["even", "odd"]
