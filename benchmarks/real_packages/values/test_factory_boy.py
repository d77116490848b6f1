import factory
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class User:
    def __init__(self, number):
        self.number = number


class UserFactory(factory.Factory):
    number = factory.Sequence(lambda n: n)

    class Meta:
        model = User


def test_sequence():
    """violated: the counter of a factory is read, and written with one more, without a lock."""
    found = []
    UserFactory.reset_sequence(0)
    run_together(*[lambda: found.append(UserFactory().number)] * 2)
    assert sorted(found) == [0, 1]


def test_given_values():
    """holds: declarations are only read, and contexts that a `defaultdict` makes stay empty."""
    found = []
    UserFactory.reset_sequence(0)
    run_together(
        lambda: found.append(UserFactory(number=7).number),
        lambda: found.append(UserFactory(number=8).number),
    )
    assert sorted(found) == [7, 8]
