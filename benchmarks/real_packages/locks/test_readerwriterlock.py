import pytest
from readerwriterlock import rwlock
from together import run_together

pytestmark = pytest.mark.mazurka


def count_with(make_lock):
    count = {"n": 0}

    def add():
        with make_lock():
            count["n"] = count["n"] + 1

    run_together(add, add)
    return count["n"]


def test_writers():
    """holds: writers exclude each other."""
    lock = rwlock.RWLockFair()
    assert count_with(lock.gen_wlock) == 2


def test_readers_write():
    """violated: readers do not exclude each other."""
    lock = rwlock.RWLockFair()
    assert count_with(lock.gen_rlock) == 2


def test_writer_beside_reader():
    """holds: a reader sees both variables of a writer, or none."""
    lock = rwlock.RWLockRead()
    pair = [0, 0]

    def write():
        with lock.gen_wlock():
            pair[0] = 1
            pair[1] = 1

    def read():
        with lock.gen_rlock():
            assert pair[0] == pair[1]

    run_together(write, read)
