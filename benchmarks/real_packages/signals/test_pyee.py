import pytest
from pyee.base import EventEmitter
from together import run_together

pytestmark = pytest.mark.mazurka


def test_once():
    """holds: the wrapper removes itself under the lock, and calls only if it was there."""
    emitter = EventEmitter()
    calls = []
    emitter.once("event", lambda: calls.append(1))
    run_together(lambda: emitter.emit("event"), lambda: emitter.emit("event"))
    assert len(calls) == 1


def test_two_listeners():
    """holds: handlers are added under the lock."""
    emitter = EventEmitter()
    run_together(lambda: emitter.on("event", print), lambda: emitter.on("event", repr))
    assert len(emitter.listeners("event")) == 2


def test_no_call_after_removal():
    """violated: `emit` calls the handlers that it has copied, after the lock is released."""
    emitter = EventEmitter()
    removed = []

    def handler():
        assert not removed

    def remove():
        emitter.remove_listener("event", handler)
        removed.append(1)

    emitter.on("event", handler)
    run_together(lambda: emitter.emit("event"), remove)
