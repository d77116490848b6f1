import pytest
from methodtools import lru_cache
from together import run_together

pytestmark = pytest.mark.mazurka


def test_computed_once():
    """violated: `lru_cache` of the standard library calls the function without a lock."""
    made = []

    class Thing:
        @lru_cache()
        def double(self, number):
            made.append(number)
            return 2 * number

    thing = Thing()
    run_together(lambda: thing.double(1), lambda: thing.double(1))
    assert made == [1]
