import pytest
from events import Events
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_listeners():
    """violated: each thread may make a slot for the event, and one of the slots is lost."""
    events = Events()
    heard = []

    def listen(number):
        events.on_change += lambda: heard.append(number)

    run_together(lambda: listen(1), lambda: listen(2))
    events.on_change()
    assert sorted(heard) == [1, 2]


def test_next_listeners():
    """holds: where there is a slot, both threads append to its list."""
    events = Events()
    heard = []
    events.on_change += lambda: heard.append(0)

    def listen(number):
        events.on_change += lambda: heard.append(number)

    run_together(lambda: listen(1), lambda: listen(2))
    events.on_change()
    assert sorted(heard) == [0, 1, 2]
