import pytest
from signalslot import Signal
from together import run_together

pytestmark = pytest.mark.mazurka


def test_connect_once_unsafe():
    """violated: without threadsafe=True there is no lock: connected twice."""
    s = Signal()

    def slot(**kwargs):
        pass

    run_together(lambda: s.connect(slot), lambda: s.connect(slot))
    assert len(s.slots) == 1


def test_connect_once():
    """holds: threadsafe signals have a lock."""
    s = Signal(threadsafe=True)

    def slot(**kwargs):
        pass

    run_together(lambda: s.connect(slot), lambda: s.connect(slot))
    assert len(s.slots) == 1


def test_connect_lost_while_emitting():
    """violated: emit replaces the list of slots, and a slot that connects meanwhile is lost."""
    s = Signal()

    def slot(**kwargs):
        pass

    run_together(s.emit, lambda: s.connect(slot))
    assert s.is_connected(slot)


def test_disconnect_twice():
    """violated: index of a slot that is gone."""
    s = Signal()

    def slot(**kwargs):
        pass

    s.connect(slot)
    run_together(lambda: s.disconnect(slot), lambda: s.disconnect(slot))
