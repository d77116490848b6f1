import decimal
import itertools
import random
import statistics

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_gauss():
    """violated: `gauss` keeps its second value in an attribute; both threads may take it."""
    source = random.Random(1)
    source.gauss(0, 1)
    drawn = []
    run_together(lambda: drawn.append(source.gauss(0, 1)), lambda: drawn.append(source.gauss(0, 1)))
    assert drawn[0] != drawn[1]


def test_random():
    """holds: each number is drawn by one call of C code."""
    source = random.Random(1)
    drawn = []
    run_together(lambda: drawn.append(source.random()), lambda: drawn.append(source.random()))
    assert drawn[0] != drawn[1]


def test_count():
    """holds: a step of `count` is one call of C code."""
    numbers = itertools.count()
    drawn = []
    run_together(lambda: drawn.append(next(numbers)), lambda: drawn.append(next(numbers)))
    assert sorted(drawn) == [0, 1]


def test_tee_of_a_generator():
    """violated: two copies ask the generator at the same time."""
    first, second = itertools.tee(number for number in [1, 2])
    run_together(lambda: next(first), lambda: next(second))


def test_decimal_context():
    """holds: each thread has a context of its own."""

    def compute(digits):
        with decimal.localcontext() as context:
            context.prec = digits
            assert len(str(decimal.Decimal(1) / 3)) == digits + 2

    run_together(lambda: compute(3), lambda: compute(5))


def test_shared_decimal_context():
    """violated: a context that threads share has one precision."""
    context = decimal.Context(prec=3)

    def compute(digits):
        context.prec = digits
        assert len(str(context.divide(decimal.Decimal(1), 3))) == digits + 2

    run_together(lambda: compute(3), lambda: compute(5))


def test_statistics():
    """holds: the functions have no state."""
    numbers = [1, 2, 6]
    found = []
    run_together(
        lambda: found.append(statistics.mean(numbers)),
        lambda: found.append(statistics.median(numbers)),
    )
    assert sorted(found) == [2, 3]
