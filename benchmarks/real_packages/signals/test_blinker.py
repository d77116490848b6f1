import pytest
from blinker import Namespace, Signal
from together import run_together

pytestmark = pytest.mark.mazurka


def test_disconnect_while_a_sender_is_added():
    """violated: `_disconnect` goes through `_by_sender` while `connect` adds a key to it."""
    signal = Signal()

    def first(sender):
        pass

    def second(sender):
        pass

    sender = object()
    signal.connect(first, weak=False)
    run_together(
        lambda: signal.disconnect(first), lambda: signal.connect(second, sender=sender, weak=False)
    )


def test_disconnect_beside_connect_of_one_receiver():
    """holds: `disconnect` removes the receiver from `receivers` last, and `send` looks there."""
    signal = Signal()
    heard = []

    def receiver(sender):
        heard.append(sender)

    signal.connect(receiver, weak=False)
    run_together(lambda: signal.disconnect(receiver), lambda: signal.connect(receiver, weak=False))
    signal.send(1)
    assert bool(heard) == bool(signal.receivers)


def test_two_connect():
    """holds: each step of `connect` is one operation on a dictionary or a set."""
    signal = Signal()
    heard = []

    def first(sender):
        heard.append(1)

    def second(sender):
        heard.append(2)

    run_together(
        lambda: signal.connect(first, weak=False), lambda: signal.connect(second, weak=False)
    )
    signal.send()
    assert sorted(heard) == [1, 2]


def test_two_send():
    """holds: `send` copies the set of receivers in one operation."""
    signal = Signal()
    heard = []

    def receiver(sender):
        heard.append(sender)

    signal.connect(receiver)
    run_together(lambda: signal.send(1), lambda: signal.send(2))
    assert sorted(heard) == [1, 2]


def test_one_signal_of_a_name():
    """violated: `Namespace.signal` looks for the name and stores a signal in two steps."""
    names = Namespace()
    made = []
    run_together(lambda: made.append(names.signal("n")), lambda: made.append(names.signal("n")))
    assert made[0] is made[1]


def test_muted_twice():
    """violated: the first thread to leave `muted` unmutes the signal for the other one."""
    signal = Signal()
    heard = []

    def receiver(sender):
        heard.append(sender)

    signal.connect(receiver, weak=False)

    def send_muted():
        with signal.muted():
            signal.send(1)

    run_together(send_muted, send_muted)
    assert not heard
