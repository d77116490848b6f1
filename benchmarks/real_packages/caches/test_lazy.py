import pytest
from lazy import lazy
from together import run_together

pytestmark = pytest.mark.mazurka


class Report:
    @lazy
    def total(self):
        return object()


def test_computed_once():
    """violated: the value is looked up in `__dict__`, computed, and stored, without a lock."""
    report = Report()
    found = []
    run_together(*[lambda: found.append(report.total)] * 2)
    assert found[0] is found[1]


def test_computed_before():
    """holds: both threads find the value in `__dict__`."""
    report = Report()
    first = report.total
    found = []
    run_together(*[lambda: found.append(report.total)] * 2)
    assert found == [first, first]


def test_invalidated_twice():
    """violated: the name is deleted if it is in `__dict__`; another thread deletes it before."""
    report = Report()
    assert report.total is report.total
    run_together(*[lambda: lazy.invalidate(report, "total")] * 2)
