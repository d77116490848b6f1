import pytest
from together import run_together
from zope.cachedescriptors.property import CachedProperty, Lazy

pytestmark = pytest.mark.mazurka


class A:
    def __init__(self):
        self.n = 0
        self.x = 1

    @Lazy
    def lazy(self):
        self.n += 1
        return object()

    @CachedProperty("x")
    def twice(self):
        return self.x * 2


def test_lazy_twice():
    """violated: two values."""
    a = A()
    found = []
    run_together(lambda: found.append(a.lazy), lambda: found.append(a.lazy))
    assert found[0] is found[1]


def test_lazy_made():
    """holds: value is there."""
    a = A()
    assert a.lazy
    found = []
    run_together(lambda: found.append(a.lazy), lambda: found.append(a.lazy))
    assert found[0] is found[1]


def test_key_changes():
    """holds: the key is read first, so a value of a later key is computed again."""
    a = A()

    def change():
        a.x = 5

    run_together(lambda: a.twice, change)
    assert a.twice == 10
