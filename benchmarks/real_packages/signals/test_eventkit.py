import pytest
from eventkit import Event
from together import run_together

pytestmark = pytest.mark.mazurka


def first(number):
    """Do nothing."""


def second(number):
    """Do nothing, too."""


def test_connect_and_disconnect():
    """violated: disconnect assigns a new list of slots; one that is appended meanwhile is lost."""
    event = Event("event")
    event += first
    run_together(lambda: event.connect(second), lambda: event.disconnect(first))
    assert len(event) == 1


def test_connect_and_emit():
    """holds: emit goes through a copy of the slots."""
    seen = []

    def listen(number):
        seen.append(number)

    event = Event("event")
    event += listen
    run_together(lambda: event.connect(second), lambda: event.emit(1))
    assert seen == [1]
