import pytest
import redis
from together import run_together

pytestmark = pytest.mark.mazurka


class Connection:
    """A connection that needs no server."""

    pid = 0

    def __init__(self, **_options):
        self.users = 0

    def connect(self):
        pass

    def can_read(self, *_):
        return False

    def should_reconnect(self):
        return False

    def re_auth(self):
        pass


def test_one_user_at_a_time():
    """holds: connections are taken and given back under the pool's lock."""
    pool = redis.ConnectionPool(connection_class=Connection, max_connections=2)

    def use():
        connection = pool.get_connection()
        connection.users += 1
        assert connection.users == 1
        connection.users -= 1

    run_together(use, use)
    assert pool._created_connections == 2


def test_limit_of_connections():
    """violated: the second thread gets an exception if both connections are in use."""
    pool = redis.ConnectionPool(connection_class=Connection, max_connections=1)

    def use():
        connection = pool.get_connection()
        pool.release(connection)

    pool.owns_connection = lambda connection: True
    run_together(use, use)
