import pytest
import toolz
from together import run_together

pytestmark = pytest.mark.mazurka


def test_memoize_calls_once():
    """violated: the cache is read and filled in two steps."""
    calls = []
    function = toolz.memoize(lambda number: calls.append(number))
    run_together(lambda: function(1), lambda: function(1))
    assert calls == [1]


def test_groupby():
    """holds: the result is a new dictionary of each thread."""
    words = ["a", "bb", "c"]
    found = []
    run_together(
        lambda: found.append(toolz.groupby(len, words)),
        lambda: found.append(toolz.frequencies(words)),
    )
    assert {1: ["a", "c"], 2: ["bb"]} in found


def test_curry():
    """holds: a partial application is a new object."""
    add = toolz.curry(lambda left, right: left + right)
    found = []
    run_together(lambda: found.append(add(1)(2)), lambda: found.append(add(3)(4)))
    assert sorted(found) == [3, 7]
