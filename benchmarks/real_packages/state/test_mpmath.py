import mpmath
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_precision():
    """violated: the precision belongs to the module; `workdps` of one thread changes the other."""
    seen = []

    def work(digits):
        with mpmath.workdps(digits):
            seen.append(mpmath.mp.dps)

    run_together(lambda: work(20), lambda: work(30))
    assert sorted(seen) == [20, 30]


def test_contexts_of_their_own():
    """holds: each thread has a context of its own."""
    seen = []

    def work(digits):
        context = mpmath.MPContext()
        context.dps = digits
        seen.append(context.dps)

    run_together(lambda: work(20), lambda: work(30))
    assert sorted(seen) == [20, 30]
