import pytest
from limits import parse, storage, strategies
from together import run_together

pytestmark = pytest.mark.mazurka


def test_fixed_window():
    """violated: `incr` reads the counter once more after its lock: both threads may see two."""
    limiter = strategies.FixedWindowRateLimiter(storage.MemoryStorage())
    once = parse("1/minute")
    allowed = []
    run_together(
        lambda: allowed.append(limiter.hit(once, "user")),
        lambda: allowed.append(limiter.hit(once, "user")),
    )
    assert sorted(allowed) == [False, True]


def test_moving_window():
    """violated: each thread may make a lock for the key, and both enter."""
    limiter = strategies.MovingWindowRateLimiter(storage.MemoryStorage())
    once = parse("1/minute")
    allowed = []
    run_together(
        lambda: allowed.append(limiter.hit(once, "user")),
        lambda: allowed.append(limiter.hit(once, "user")),
    )
    assert sorted(allowed) == [False, True]
