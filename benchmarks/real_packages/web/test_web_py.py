import pytest
import web
from together import run_together

pytestmark = pytest.mark.mazurka


def test_threaded_dict_beside_clear_all():
    """holds: `ThreadedDict` registers itself by identity, and each thread clears its own items."""
    values = web.utils.ThreadedDict()
    seen = []

    def use():
        values["key"] = 1
        seen.append(values["key"])

    run_together(use, web.utils.ThreadedDict.clear_all)
    assert seen == [1]


def test_memoize_calls_once():
    """violated: a thread waits for the first call, and then calls the function once more."""
    calls = []
    square = web.utils.memoize(calls.append)
    run_together(lambda: square(2), lambda: square(2))
    assert len(calls) == 1


def test_counter():
    """violated: `Counter.add` reads the count and stores it again."""
    counter = web.utils.Counter()
    run_together(lambda: counter.add("key"), lambda: counter.add("key"))
    assert counter["key"] == 2
