import pytest
from playhouse.pool import MaxConnectionsExceeded, PooledSqliteDatabase
from together import run_together

pytestmark = pytest.mark.mazurka


def test_connections_come_back():
    """holds: connections are counted under the pool's lock, and given back when they are closed."""
    database = PooledSqliteDatabase(":memory:", max_connections=2)

    def use():
        database.connect()
        database.close()

    run_together(use, use)
    assert not database._in_use
    assert 1 <= len(database._connections) <= 2


def test_limit_of_connections():
    """violated: without a timeout the second thread does not wait for the only connection."""
    database = PooledSqliteDatabase(":memory:", max_connections=1)
    refused = []

    def use():
        try:
            database.connect()
            database.close()
        except MaxConnectionsExceeded:
            refused.append(1)

    run_together(use, use)
    assert not refused
