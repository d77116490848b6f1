import pytest
from pyrate_limiter import Duration, InMemoryBucket, Rate, RateItem
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_item():
    """holds: `put` counts and appends under the bucket's lock."""
    bucket = InMemoryBucket([Rate(1, Duration.MINUTE)])
    accepted = []
    run_together(
        lambda: accepted.append(bucket.put(RateItem("a", 1000))),
        lambda: accepted.append(bucket.put(RateItem("b", 1000))),
    )
    assert sorted(accepted) == [False, True]


def test_reason_of_a_refusal():
    """violated: the bucket has one `failing_rate` for all threads."""
    bucket = InMemoryBucket([Rate(1, Duration.MINUTE)])

    def put(name):
        if bucket.put(RateItem(name, 1000)):
            assert bucket.failing_rate is None

    run_together(lambda: put("a"), lambda: put("b"))
