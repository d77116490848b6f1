import immutables
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_maps_stay_as_they_are():
    """holds: `set` makes another map."""
    numbers = immutables.Map(a=1)
    made = []
    run_together(lambda: made.append(numbers.set("b", 2)), lambda: made.append(numbers.set("c", 3)))
    assert len(numbers) == 1
    assert [len(other) for other in made] == [2, 2]


def test_one_map_for_all():
    """violated: a thread may replace the map that the other one has put there meanwhile."""
    kept = [immutables.Map()]

    def add(name):
        kept[0] = kept[0].set(name, 1)

    run_together(lambda: add("a"), lambda: add("b"))
    assert len(kept[0]) == 2
