import pytest
import sympy
from together import run_together

pytestmark = pytest.mark.mazurka


def test_dummies_are_different():
    """violated: `Dummy` takes its number from a counter of the class in two steps."""
    made = []
    run_together(lambda: made.append(sympy.Dummy("x")), lambda: made.append(sympy.Dummy("x")))
    assert made[0] != made[1]


def test_symbols_are_equal():
    """holds: symbols of one name are equal, whether the cache has one or not."""
    made = []
    run_together(lambda: made.append(sympy.Symbol("x")), lambda: made.append(sympy.Symbol("x")))
    assert made[0] == made[1]
