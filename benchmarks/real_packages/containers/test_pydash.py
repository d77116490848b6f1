import pydash
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_once():
    """violated: `Once` looks at a flag, calls, and sets the flag."""
    calls = []
    function = pydash.once(lambda: calls.append(1))
    run_together(function, function)
    assert len(calls) == 1


def test_after():
    """violated: `After` counts down with `-=` and no lock."""
    calls = []
    function = pydash.after(lambda: calls.append(1), 2)
    run_together(function, function)
    assert len(calls) == 1


def test_group_by():
    """holds: the result is a new dictionary."""
    found = []
    run_together(
        lambda: found.append(pydash.group_by([1, 2, 3], lambda number: number % 2)),
        lambda: found.append(pydash.get({"a": {"b": 1}}, "a.b")),
    )
    assert 1 in found
