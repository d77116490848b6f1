import pytest
from together import run_together
from traitlets import HasTraits, Int, default

pytestmark = pytest.mark.mazurka


class Settings(HasTraits):
    number = Int()
    made = Int()

    @default("made")
    def make(self):
        self.calls.append(1)
        return 1


def test_default_is_computed_once():
    """violated: the values are read, and filled after the default was computed."""
    settings = Settings()
    settings.calls = []
    run_together(lambda: settings.made, lambda: settings.made)
    assert len(settings.calls) == 1


def test_add():
    """violated: `+=` on a trait is a read and a write."""
    settings = Settings()

    def add():
        settings.number += 1

    run_together(add, add)
    assert settings.number == 2


def test_objects_of_their_own():
    """holds: objects share nothing that changes."""
    first, second = Settings(), Settings()
    run_together(lambda: first.set_trait("number", 1), lambda: second.set_trait("number", 2))
    assert (first.number, second.number) == (1, 2)
