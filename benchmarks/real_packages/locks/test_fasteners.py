import fasteners
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def count_with(lock):
    count = {"n": 0}

    def add():
        with lock():
            count["n"] = count["n"] + 1

    run_together(add, add)
    return count["n"]


def test_writers():
    """holds: writers exclude each other."""
    assert count_with(fasteners.ReaderWriterLock().write_lock) == 2


def test_readers_write():
    """violated: readers do not exclude each other."""
    assert count_with(fasteners.ReaderWriterLock().read_lock) == 2
