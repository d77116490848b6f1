import pytest
from sqlalchemy.pool import NullPool, QueuePool
from together import run_together

pytestmark = pytest.mark.mazurka


class Connection:
    def rollback(self):
        pass

    def close(self):
        pass


def test_queue_pool():
    """holds: a pool of one connection hands it to one thread at a time; the other waits."""
    pool = QueuePool(Connection, pool_size=1, max_overflow=0, timeout=None)
    using = []

    def use():
        connection = pool.connect()
        using.append(1)
        assert len(using) == 1
        using.pop()
        connection.close()

    run_together(use, use)


def test_overflow_is_counted():
    """holds: the overflow is counted under a lock."""
    pool = QueuePool(Connection, pool_size=1, max_overflow=1)
    run_together(lambda: pool.connect().close(), lambda: pool.connect().close())
    assert pool.checkedout() == 0


def test_null_pool_has_no_limit():
    """violated: `NullPool` makes a connection for each thread."""
    made = []

    def connect():
        made.append(1)
        assert len(made) == 1
        made.pop()
        return Connection()

    pool = NullPool(connect)
    run_together(lambda: pool.connect().close(), lambda: pool.connect().close())
