import pytest
from generic_connection_pool.threading import BaseConnectionManager, ConnectionPool
from together import run_together

pytestmark = pytest.mark.mazurka


class Manager(BaseConnectionManager):
    def __init__(self):
        self.made = 0

    def create(self, endpoint, timeout=None):
        self.made += 1
        return self.made

    def dispose(self, endpoint, conn, timeout=None):
        pass


def test_one_connection_for_two():
    """holds: the second thread waits, and gets the connection that the first one has released."""
    manager = Manager()
    pool = ConnectionPool(manager, max_size=1, total_max_size=1, background_collector=False)
    seen = []

    def use():
        with pool.connection("endpoint") as connection:
            seen.append(connection)

    run_together(use, use)
    assert seen == [1, 1]
