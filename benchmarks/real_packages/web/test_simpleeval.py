import pytest
from simpleeval import SimpleEval
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_evaluator():
    """violated: the names belong to the evaluator, and the other thread replaces them."""
    evaluator = SimpleEval()

    def compute(number):
        evaluator.names = {"x": number}
        assert evaluator.eval("x") == number

    run_together(lambda: compute(1), lambda: compute(2))


def test_evaluators_of_their_own():
    """holds: each thread has an evaluator of its own."""

    def compute(number):
        assert SimpleEval(names={"x": number}).eval("x + 1") == number + 1

    run_together(lambda: compute(1), lambda: compute(2))
