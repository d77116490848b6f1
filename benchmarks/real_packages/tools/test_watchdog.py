import pytest
from together import run_together
from watchdog.utils.bricks import SkipRepeatsQueue

pytestmark = pytest.mark.mazurka


def test_repeats():
    """holds: the queue compares and stores the last item under its lock."""
    queue = SkipRepeatsQueue()
    run_together(lambda: queue.put("event"), lambda: queue.put("event"))
    assert queue.qsize() == 1


def test_look_then_get():
    """violated: the other thread may take the item between `empty` and `get_nowait`."""
    queue = SkipRepeatsQueue()
    queue.put("event")

    def take():
        if not queue.empty():
            queue.get_nowait()

    run_together(take, take)
