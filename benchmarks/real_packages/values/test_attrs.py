import attrs
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


@attrs.define
class Counter:
    count: int = 0
    seen: list = attrs.field(factory=list)

    def add(self):
        self.count += 1


def test_add():
    """violated: `+=` on an attribute is a read and a write."""
    counter = Counter()
    run_together(counter.add, counter.add)
    assert counter.count == 2


def test_factory():
    """holds: each object gets a list of its own."""
    made = []
    run_together(lambda: made.append(Counter()), lambda: made.append(Counter()))
    assert made[0].seen is not made[1].seen


def test_evolve():
    """holds: `evolve` makes a new object."""
    counter = Counter(1)
    made = []
    run_together(
        lambda: made.append(attrs.evolve(counter, count=2)),
        lambda: made.append(attrs.evolve(counter, count=3)),
    )
    assert sorted(one.count for one in made) == [2, 3]
