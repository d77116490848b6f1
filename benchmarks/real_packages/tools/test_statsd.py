import pytest
from statsd.client.base import PipelineBase, StatsClientBase
from together import run_together

pytestmark = pytest.mark.mazurka


class Memory(StatsClientBase):
    _prefix = "p"

    def __init__(self):
        self.sent = []

    def _send(self, data):
        self.sent.append(data)


class Pipe(PipelineBase):
    def _send(self):
        while self._stats:
            self._client._after(self._stats.popleft())


def test_incr():
    """holds: each call formats and sends."""
    c = Memory()
    run_together(lambda: c.incr("a"), lambda: c.incr("b"))
    assert sorted(c.sent) == ["p.a:1|c", "p.b:1|c"]


def test_timer_decorator():
    """holds: the decorator is thread-safe, as it says."""
    c = Memory()

    @c.timer("t")
    def f():
        return 1

    run_together(f, f)
    assert len(c.sent) == 2


def test_timer_shared():
    """violated: one timer object used with `with` in two threads sends twice or never."""
    c = Memory()
    t = c.timer("t")

    def f():
        with t:
            pass

    run_together(f, f)
    assert len(c.sent) == 2


def test_pipeline_send():
    """violated: two threads send one pipeline: popleft of an empty deque."""
    c = Memory()
    p = Pipe(c)
    p.incr("a")
    run_together(p.send, p.send)
    assert c.sent == ["p.a:1|c"]
