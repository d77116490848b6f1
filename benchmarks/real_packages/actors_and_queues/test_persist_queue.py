import tempfile

import persistqueue
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_puts():
    """holds: `put` writes the item and the length of the queue under one lock."""
    with tempfile.TemporaryDirectory() as folder:
        queue = persistqueue.Queue(folder)
        run_together(lambda: queue.put(1), lambda: queue.put(2))
        assert sorted([queue.get(), queue.get()]) == [1, 2]


def test_threads_one_after_the_other():
    """holds: nothing is concurrent, each thread is joined before the next one begins."""
    with tempfile.TemporaryDirectory() as folder:
        queue = persistqueue.SQLiteQueue(folder, multithreading=True, auto_commit=True)

        def put():
            for item in range(10):
                queue.put(item)

        def get():
            for item in range(10):
                assert queue.get() == item

        for _ in range(5):
            run_together(put)
            run_together(get)
        assert queue.size == 0
