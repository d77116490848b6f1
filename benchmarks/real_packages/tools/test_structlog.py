import pytest
import structlog
from structlog.testing import LogCapture
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_log():
    """holds: each call makes an event dictionary of its own."""
    capture = LogCapture()
    logger = structlog.wrap_logger(None, processors=[capture])
    run_together(lambda: logger.info("a", n=1), lambda: logger.info("b", n=2))
    assert sorted(entry["event"] for entry in capture.entries) == ["a", "b"]


def test_context_variables():
    """holds: bound variables belong to the context of the thread."""

    def work(number):
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(number=number)
        assert structlog.contextvars.get_contextvars() == {"number": number}

    run_together(lambda: work(1), lambda: work(2))


def test_counting_processor():
    """violated: processors are called without a lock."""
    count = {"n": 0}

    def note(logger, name, event):
        count["n"] = count["n"] + 1
        raise structlog.DropEvent

    logger = structlog.wrap_logger(None, processors=[note])
    run_together(lambda: logger.info("a"), lambda: logger.info("b"))
    assert count["n"] == 2
