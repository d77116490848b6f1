import pytest
from django.core.cache.backends.locmem import LocMemCache
from django.dispatch import Signal
from django.utils.functional import SimpleLazyObject, cached_property
from together import run_together

pytestmark = pytest.mark.mazurka


def test_connect_twice():
    """holds: receivers are appended under the signal's lock."""
    signal = Signal()
    heard = []

    def first(**_named):
        heard.append(1)

    def second(**_named):
        heard.append(2)

    run_together(lambda: signal.connect(first), lambda: signal.connect(second))
    signal.send(sender=None)
    assert sorted(heard) == [1, 2]


def test_one_receiver_of_a_name():
    """holds: `connect` looks for the name and appends under the signal's lock."""
    signal = Signal()
    heard = []

    def receiver(**_named):
        heard.append(1)

    def connect():
        signal.connect(receiver, dispatch_uid="name")

    run_together(connect, connect)
    signal.send(sender=None)
    assert heard == [1]


def test_cached_receivers():
    """holds: what is cached for a sender is stored and cleared under the signal's lock."""
    signal = Signal(use_caching=True)
    heard = []

    class Sender:
        pass

    def first(**_named):
        heard.append(1)

    def second(**_named):
        heard.append(2)

    signal.connect(first)
    run_together(lambda: signal.send(sender=Sender), lambda: signal.connect(second))
    heard.clear()
    signal.send(sender=Sender)
    assert sorted(heard) == [1, 2]


def test_lazy_object_is_made_once():
    """violated: the object is made without a lock."""
    made = []

    def make():
        made.append(1)
        return "text"

    lazy = SimpleLazyObject(make)
    run_together(lambda: str(lazy), lambda: len(lazy))
    assert made == [1]


def test_cached_property_is_computed_once():
    """violated: `cached_property` has no lock."""
    made = []

    class Thing:
        @cached_property
        def value(self):
            made.append(1)
            return 1

    thing = Thing()
    run_together(lambda: thing.value, lambda: thing.value)
    assert made == [1]


def test_increment_in_local_memory():
    """holds: `incr` reads and stores under the cache's lock."""
    cache = LocMemCache("increment", {})
    cache.set("number", 0)
    run_together(lambda: cache.incr("number"), lambda: cache.incr("number"))
    assert cache.get("number") == 2


def test_get_or_set_gives_one_value():
    """holds: both threads get the value that was added first."""
    cache = LocMemCache("value", {})
    cache.clear()
    got = []
    run_together(
        lambda: got.append(cache.get_or_set("key", 1)),
        lambda: got.append(cache.get_or_set("key", 2)),
    )
    assert got[0] == got[1]


def test_get_or_set_makes_one_value():
    """violated: both threads may call the function before one of them adds its value."""
    cache = LocMemCache("made", {})
    cache.clear()
    made = []

    def make():
        made.append(1)
        return 1

    run_together(lambda: cache.get_or_set("key", make), lambda: cache.get_or_set("key", make))
    assert made == [1]
