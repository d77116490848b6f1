import pytest
from pymemcache.pool import ObjectPool
from together import run_together

pytestmark = pytest.mark.mazurka


class Connection:
    pass


def test_one_user_at_a_time():
    """holds: `get` and `release` move objects under the pool's lock."""
    pool = ObjectPool(Connection, max_size=2)
    used = []

    def use():
        with pool.get_and_release() as connection:
            assert connection not in used
            used.append(connection)
            used.remove(connection)

    run_together(use, use)
    assert not pool.used


def test_limit():
    """holds: a pool of one object raises an exception instead of making a second one."""
    made = []
    pool = ObjectPool(lambda: made.append(Connection()) or made[-1], max_size=1)

    def use():
        try:
            with pool.get_and_release():
                pass
        except RuntimeError:
            pass

    run_together(use, use)
    assert len(made) == 1


def test_enough_for_two():
    """violated: a pool of one object does not wait; the second thread may get an exception."""
    pool = ObjectPool(Connection, max_size=1)

    def use():
        with pool.get_and_release():
            pass

    run_together(use, use)
