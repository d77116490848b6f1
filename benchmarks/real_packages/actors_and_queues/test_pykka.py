import contextlib

import pykka
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Counter(pykka.ThreadingActor):
    def __init__(self):
        super().__init__()
        self.count = 0

    def on_receive(self, message):
        self.count += 1
        return self.count


def test_ask_twice():
    """holds: the actor handles one message after the other."""
    actor = Counter.start()
    answers = []
    run_together(lambda: answers.append(actor.ask(1)), lambda: answers.append(actor.ask(1)))
    actor.stop()
    assert sorted(answers) == [1, 2]


def test_ask_beside_stop():
    """violated: `ask` finds the actor alive, the actor empties its inbox and ends, then comes
    the message: nobody answers it, and `ask` waits for ever."""
    actor = Counter.start()

    def ask():
        with contextlib.suppress(pykka.ActorDeadError):
            actor.ask(1)

    run_together(ask, actor.stop)


def test_stop_twice():
    """violated: the second `stop` is a message, too, and may come after the inbox was emptied."""
    actor = Counter.start()
    run_together(actor.stop, actor.stop)


def test_future_is_set_once():
    """holds: `set` looks and stores under the future's condition."""
    future = pykka.ThreadingFuture()
    refused = []

    def put(value):
        try:
            future.set(value)
        except Exception:
            refused.append(value)

    run_together(lambda: put(1), lambda: put(2))
    assert refused == [3 - future.get()]
