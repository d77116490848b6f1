import sqlite3

import pytest
from dbutils.pooled_db import PooledDB
from together import run_together

pytestmark = pytest.mark.mazurka


def open_pool(blocking):
    return PooledDB(
        sqlite3,
        maxconnections=1,
        blocking=blocking,
        database=":memory:",
        check_same_thread=False,
    )


def test_waits_for_a_connection():
    """holds: a pool that blocks waits until the other thread has given its connection back."""
    pool = open_pool(blocking=True)
    run_together(lambda: pool.connection().close(), lambda: pool.connection().close())


def test_does_not_wait():
    """violated: a pool that does not block raises `TooManyConnections`."""
    pool = open_pool(blocking=False)
    run_together(lambda: pool.connection().close(), lambda: pool.connection().close())
