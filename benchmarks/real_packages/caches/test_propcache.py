import pytest
from propcache.api import cached_property, under_cached_property
from together import run_together

pytestmark = pytest.mark.mazurka


def test_computed_once():
    """violated: C code looks into the dictionary, calls the getter, and stores, without a lock."""
    made = []

    class Thing:
        @cached_property
        def value(self):
            made.append(1)
            return 1

    thing = Thing()
    run_together(lambda: thing.value, lambda: thing.value)
    assert made == [1]


def test_one_object_under_a_cache():
    """violated: the getter may be called by both threads, and each gets what it has made."""

    class Thing:
        def __init__(self):
            self._cache = {}

        @under_cached_property
        def value(self):
            return object()

    thing = Thing()
    got = []
    run_together(lambda: got.append(thing.value), lambda: got.append(thing.value))
    assert got[0] is got[1]


def test_things_of_their_own():
    """holds: each object has a dictionary of its own."""

    class Thing:
        @cached_property
        def value(self):
            return []

    def use():
        thing = Thing()
        assert thing.value is thing.value

    run_together(use, use)
