from contextlib import suppress

import pytest
from statemachine import State, StateMachine
from statemachine.exceptions import TransitionNotAllowed
from together import run_together

pytestmark = pytest.mark.mazurka


class Light(StateMachine):
    green = State(initial=True)
    red = State(final=True)
    stop = green.to(red)


class Clock(StateMachine):
    running = State(initial=True)
    tick = running.to.itself(on="count")

    def __init__(self):
        self.ticks = 0
        super().__init__()

    def count(self):
        self.ticks += 1


def test_final_state():
    """holds: one thread handles the events of all, one after the other."""
    light = Light()

    def stop():
        with suppress(TransitionNotAllowed):
            light.stop()

    run_together(stop, stop)
    assert light.red.is_active


def test_every_event_is_handled():
    """violated: an event may be queued when the other thread has left its loop but not its lock."""
    clock = Clock()
    run_together(clock.tick, clock.tick)
    assert clock.ticks == 2
