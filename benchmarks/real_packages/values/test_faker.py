import pytest
from faker import Faker
from together import run_together

pytestmark = pytest.mark.mazurka


def test_unique():
    """violated: the value is drawn, looked up and stored in three steps; seed 2 draws the same
    digit of two twice."""
    fake = Faker()
    fake.seed_instance(2)
    drawn = []
    run_together(
        lambda: drawn.append(fake.unique.random_int(0, 1)),
        lambda: drawn.append(fake.unique.random_int(0, 1)),
    )
    assert sorted(drawn) == [0, 1]


def test_generators_of_their_own():
    """holds: each thread has a generator with a seed of its own."""

    def draw():
        fake = Faker()
        fake.seed_instance(1)
        return fake.random_int(0, 9)

    drawn = []
    run_together(lambda: drawn.append(draw()), lambda: drawn.append(draw()))
    assert drawn[0] == drawn[1]
