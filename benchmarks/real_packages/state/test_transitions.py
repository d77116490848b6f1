import contextlib

import pytest
from together import run_together
from transitions import Machine, MachineError
from transitions.extensions import LockedMachine

pytestmark = pytest.mark.mazurka


class Door:
    def __init__(self):
        self.opened = []

    def note(self):
        self.opened.append(1)


def make_machine(kind, door):
    return kind(
        door,
        states=["closed", "open"],
        initial="closed",
        transitions=[
            {"trigger": "go", "source": "closed", "dest": "open", "after": "note"},
        ],
    )


def go(door):
    with contextlib.suppress(MachineError):
        door.go()


def test_one_transition():
    """violated: the state is read, and written after the callbacks: both threads may go."""
    door = Door()
    make_machine(Machine, door)
    run_together(lambda: go(door), lambda: go(door))
    assert len(door.opened) == 1


def test_locked_machine():
    """holds: `LockedMachine` holds its lock during a trigger."""
    door = Door()
    make_machine(LockedMachine, door)
    run_together(lambda: go(door), lambda: go(door))
    assert len(door.opened) == 1
