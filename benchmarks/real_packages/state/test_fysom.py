from contextlib import suppress

import pytest
from fysom import Fysom, FysomError
from together import run_together

pytestmark = pytest.mark.mazurka


def make_machine():
    return Fysom(initial="green", events=[("warn", "green", "yellow")])


def test_event_in_two_threads():
    """violated: the state changes after a thread has checked it, so there is no next state."""
    machine = make_machine()

    def warn():
        with suppress(FysomError):
            machine.warn()

    run_together(warn, warn)


def test_two_machines():
    """holds: they share nothing."""
    machines = [make_machine(), make_machine()]
    run_together(*[machine.warn for machine in machines])
    assert [machine.current for machine in machines] == ["yellow", "yellow"]
