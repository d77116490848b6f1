import pytest
import pytz
from pytz.lazy import LazyDict
from together import run_together

pytestmark = pytest.mark.mazurka


def test_timezone():
    """violated: both load the zone file; the cache check is not locked, objects differ."""
    pytz._tzinfo_cache.pop("Europe/Vienna", None)
    found = []
    run_together(
        lambda: found.append(pytz.timezone("Europe/Vienna")),
        lambda: found.append(pytz.timezone("Europe/Vienna")),
    )
    assert found[0] == found[1]


def test_lazy_dict():
    """holds: filled under a lock, double checked, assigned when full."""
    fills = []

    class D(LazyDict):
        def _fill(self):
            data = {"A": 1, "B": 2}
            fills.append(1)
            self.data = data

    d = D()
    found = []
    run_together(lambda: found.append(d["a"]), lambda: found.append(len(d)))
    assert sorted(found) == [1, 2]
    assert len(fills) == 1


def test_lazy_dict_filled_in_place():
    """violated: _fill that assigns an empty dict first shows it too early."""

    class D(LazyDict):
        def _fill(self):
            self.data = {}
            self.data["A"] = 1

    d = D()
    run_together(lambda: d["a"], lambda: d["a"])


def test_localize():
    """holds: zones are not changed."""
    import datetime

    vienna = pytz.timezone("Europe/Vienna")
    found = []

    def f(month):
        t = vienna.localize(datetime.datetime(2024, month, 1))
        found.append(t.utcoffset().total_seconds())

    run_together(lambda: f(1), lambda: f(7))
    assert sorted(found) == [3600, 7200]
