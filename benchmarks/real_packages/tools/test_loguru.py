import pytest
from loguru import logger
from together import run_together

pytestmark = pytest.mark.mazurka


def test_sink_is_called_by_one_thread():
    """holds: a handler calls its sink under its lock."""
    count = {"n": 0}

    def note(message):
        count["n"] = count["n"] + 1

    logger.remove()
    handler = logger.add(note, format="{message}")
    run_together(lambda: logger.info("a"), lambda: logger.info("b"))
    logger.remove(handler)
    assert count["n"] == 2


def test_patcher():
    """violated: patchers run before the handler's lock is taken."""
    count = {"n": 0}

    def note(record):
        count["n"] = count["n"] + 1

    logger.remove()
    handler = logger.add(lambda message: None, format="{message}")
    patched = logger.patch(note)
    run_together(lambda: patched.info("a"), lambda: patched.info("b"))
    logger.remove(handler)
    assert count["n"] == 2
