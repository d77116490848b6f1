from datetime import datetime

import pytest
from dateutil import rrule, tz
from together import run_together

pytestmark = pytest.mark.mazurka


def test_cached_rule():
    """holds: the cache of a rule is filled under its lock."""
    rule = rrule.rrule(rrule.DAILY, count=2, dtstart=datetime(2024, 1, 1), cache=True)
    found = []
    run_together(lambda: found.append(len(list(rule))), lambda: found.append(len(list(rule))))
    assert found == [2, 2]


def test_offsets_are_one_object():
    """violated: `WeakValueDictionary.setdefault` looks and stores in two steps of Python code."""
    made = []
    run_together(
        lambda: made.append(tz.tzoffset("A", 3600)), lambda: made.append(tz.tzoffset("A", 3600))
    )
    assert made[0] is made[1]
