import asyncio
import concurrent.futures
import logging
import sched

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


class Count(logging.Handler):
    def __init__(self):
        super().__init__()
        self.count = 0

    def emit(self, record):
        self.count += 1


def make_logger():
    logger = logging.Logger("demo")
    logger.propagate = False
    return logger


def test_handler():
    """holds: `emit` runs under the lock of the handler."""
    logger = make_logger()
    handler = Count()
    logger.addHandler(handler)
    run_together(lambda: logger.warning("a"), lambda: logger.warning("b"))
    assert handler.count == 2


def test_add_a_handler_once():
    """violated: both threads find no handler, and add one."""
    logger = make_logger()

    def prepare():
        if not logger.handlers:
            logger.addHandler(Count())

    run_together(prepare, prepare)
    assert len(logger.handlers) == 1


def test_filter_counts():
    """violated: filters of a logger run without a lock."""
    logger = make_logger()
    count = {"n": 0}

    def note(record):
        count["n"] = count["n"] + 1
        return False

    logger.addFilter(note)
    run_together(lambda: logger.warning("a"), lambda: logger.warning("b"))
    assert count["n"] == 2


def test_scheduler():
    """holds: an event is taken from the queue under the lock, so it runs once."""
    scheduler = sched.scheduler()
    ran = []
    scheduler.enter(0, 1, ran.append, (1,))
    run_together(scheduler.run, scheduler.run)
    assert ran == [1]


def test_loops_of_their_own():
    """holds: each thread runs an event loop of its own."""

    async def work(number):
        await asyncio.sleep(0)
        return number

    found = []
    run_together(
        lambda: found.append(asyncio.run(work(1))), lambda: found.append(asyncio.run(work(2)))
    )
    assert sorted(found) == [1, 2]


def test_future_is_set_once():
    """violated: the other thread sets the result between `done` and `set_result`."""
    future = concurrent.futures.Future()

    def finish():
        if not future.done():
            future.set_result(1)

    run_together(finish, finish)


def test_executor():
    """holds: a task is taken from the queue by one worker."""
    count = []
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        executor.submit(count.append, 1)
        executor.submit(count.append, 2)
    assert sorted(count) == [1, 2]
