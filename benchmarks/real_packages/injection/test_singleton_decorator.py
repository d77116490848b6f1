import pytest
from singleton_decorator import singleton
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_instances():
    """violated: the instance is looked for, then made, without a lock."""

    @singleton
    class Settings:
        pass

    found = []
    run_together(lambda: found.append(Settings()), lambda: found.append(Settings()))
    assert found[0] is found[1]


def test_made_before():
    """holds: the instance exists."""

    @singleton
    class Settings:
        pass

    Settings()
    found = []
    run_together(lambda: found.append(Settings()), lambda: found.append(Settings()))
    assert found[0] is found[1]
