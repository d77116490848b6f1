import catalogue
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_names():
    """holds: each registration is one operation on a dictionary."""
    registry = catalogue.create("mazurka_tests", "two_names")
    run_together(lambda: registry.register("a", func=1), lambda: registry.register("b", func=2))
    assert sorted(registry.get_all()) == ["a", "b"]


def test_register_if_missing():
    """violated: another thread may register the name between `in` and `register`."""
    registry = catalogue.create("mazurka_tests", "if_missing")
    made = []

    def make():
        if "name" not in registry:
            made.append(1)
            registry.register("name", func=1)

    run_together(make, make)
    assert made == [1]
