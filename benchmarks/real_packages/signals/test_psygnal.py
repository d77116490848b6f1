import pytest
from psygnal import Signal, SignalInstance
from together import run_together

pytestmark = pytest.mark.mazurka


class Emitter:
    changed = Signal(int)


def test_first_use():
    """violated: the descriptor makes a SignalInstance for each; what one has connected is lost."""
    emitter, seen = Emitter(), []

    def first(value):
        seen.append(("first", value))

    def second(value):
        seen.append(("second", value))

    run_together(lambda: emitter.changed.connect(first), lambda: emitter.changed.connect(second))
    emitter.changed.emit(1)
    assert sorted(seen) == [("first", 1), ("second", 1)]


def test_connect():
    """holds: an instance that is there is changed under its lock."""
    signal, seen = SignalInstance((int,)), []

    def first(value):
        seen.append(("first", value))

    def second(value):
        seen.append(("second", value))

    run_together(lambda: signal.connect(first), lambda: signal.connect(second))
    signal.emit(1)
    assert sorted(seen) == [("first", 1), ("second", 1)]


def test_emit():
    """holds: the slots run under the lock of the signal."""
    signal, count = SignalInstance((int,)), [0]

    def add(value):
        count[0] += value

    signal.connect(add)
    run_together(lambda: signal.emit(1), lambda: signal.emit(2))
    assert count == [3]
