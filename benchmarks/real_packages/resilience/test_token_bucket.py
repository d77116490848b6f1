import pytest
import token_bucket
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_token():
    """violated: there is no lock, as its documentation says; both threads may take the token."""
    limiter = token_bucket.Limiter(1, 1, token_bucket.MemoryStorage())
    taken = []
    run_together(
        lambda: taken.append(limiter.consume("k")), lambda: taken.append(limiter.consume("k"))
    )
    assert taken.count(True) == 1


def test_two_tokens_of_two_keys():
    """holds: the keys have buckets of their own."""
    limiter = token_bucket.Limiter(1, 1, token_bucket.MemoryStorage())
    taken = []
    run_together(
        lambda: taken.append(limiter.consume("a")), lambda: taken.append(limiter.consume("b"))
    )
    assert taken == [True, True]
