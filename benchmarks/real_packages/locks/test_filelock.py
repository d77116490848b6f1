import tempfile

import filelock
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_threads_one_lock():
    """holds: with `thread_local=False`, the second `acquire` of another thread is refused or
    waits; here each thread has a lock object of its own on one file."""
    count = {"n": 0}
    with tempfile.TemporaryDirectory() as folder:

        def add():
            with filelock.FileLock(f"{folder}/lock"):
                count["n"] = count["n"] + 1

        run_together(add, add)
    assert count["n"] == 2


def test_soft_lock():
    """holds: the file is made exclusively, and only one thread can make it."""
    count = {"n": 0}
    with tempfile.TemporaryDirectory() as folder:

        def add():
            with filelock.SoftFileLock(f"{folder}/lock"):
                count["n"] = count["n"] + 1

        run_together(add, add)
    assert count["n"] == 2
