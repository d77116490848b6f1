import pytest
from event_bus import EventBus
from together import run_together

pytestmark = pytest.mark.mazurka


def one():
    """Do nothing."""


def two():
    """Do nothing, too."""


def test_subscribe():
    """holds: a `defaultdict` makes one set of functions, to which both threads add."""
    bus = EventBus()
    run_together(lambda: bus.add_event(one, "event"), lambda: bus.add_event(two, "event"))
    assert bus.event_count == 2


def test_emit_while_subscribing():
    """violated: emit goes through the set of functions itself."""
    bus = EventBus()
    bus.add_event(one, "event")
    run_together(lambda: bus.add_event(two, "event"), lambda: bus.emit("event"))


def test_remove_and_subscribe():
    """violated: to remove assigns a copy of the set; a function added meanwhile is lost."""
    bus = EventBus()
    bus.add_event(one, "event")
    run_together(lambda: bus.remove_event("one", "event"), lambda: bus.add_event(two, "event"))
    assert bus._event_func_names("event") == ["two"]
