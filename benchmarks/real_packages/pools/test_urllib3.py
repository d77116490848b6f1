import pytest
from together import run_together
from urllib3 import HTTPConnectionPool, PoolManager
from urllib3._collections import RecentlyUsedContainer

pytestmark = pytest.mark.mazurka


def test_connections_are_counted():
    """violated: `_new_conn` counts connections with `+=` and no lock."""
    pool = HTTPConnectionPool("localhost", maxsize=2)
    run_together(pool._get_conn, pool._get_conn)
    assert pool.num_connections == 2


def test_blocking_pool():
    """holds: a pool of one connection hands it to one thread at a time."""
    pool = HTTPConnectionPool("localhost", maxsize=1, block=True)
    using = []

    def use():
        connection = pool._get_conn()
        using.append(connection)
        assert len(using) == 1
        using.remove(connection)
        pool._put_conn(connection)

    run_together(use, use)


def test_one_pool_of_a_host():
    """holds: `PoolManager` looks and makes under the lock of its container."""
    manager = PoolManager()
    made = []
    run_together(
        lambda: made.append(manager.connection_from_host("localhost")),
        lambda: made.append(manager.connection_from_host("localhost")),
    )
    assert made[0] is made[1]


def test_recently_used():
    """holds: the container changes under its lock."""
    container = RecentlyUsedContainer(maxsize=1)
    run_together(lambda: container.__setitem__("a", 1), lambda: container.__setitem__("b", 2))
    assert len(container) == 1
