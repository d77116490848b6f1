import pytest
from jaraco.functools import once
from together import run_together

pytestmark = pytest.mark.mazurka


def test_once():
    """violated: the wrapper looks for the saved result, calls, and saves."""
    calls = []
    function = once(lambda: calls.append(1))
    run_together(function, function)
    assert len(calls) == 1


def test_called_before():
    """holds: after the first call the result is only read."""
    function = once(object)
    first = function()
    found = []
    run_together(lambda: found.append(function()), lambda: found.append(function()))
    assert found == [first, first]
