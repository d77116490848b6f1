"""Errors name their place as far as it is known."""

from __future__ import annotations

import pytest

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.ir.program import Span


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, "no"),
        ({"file": "m.py"}, "m.py: no"),
        ({"file": "m.py", "line": 3}, "m.py:3: no"),
        ({"file": "m.py", "line": 3, "column": 7}, "m.py:3:7: no"),
        ({"file": "m.py", "column": 7}, "m.py: no"),
        ({"line": 3, "column": 7}, "no"),
    ],
)
def test_the_place_comes_first(place, told) -> None:
    assert str(MazurkaError("no", **place)) == told


def test_an_error_at_a_span() -> None:
    error = UnsupportedError.at(Span("m.py", 3, 7, 12), "no")
    assert isinstance(error, UnsupportedError)
    assert (error.file, error.line, error.column, error.end_column) == ("m.py", 3, 7, 12)


def test_what_is_unknown_of_a_span_stays_unknown() -> None:
    error = MazurkaError.at(Span("m.py", 3), "no")
    assert (error.line, error.column, error.end_column) == (3, None, None)
    assert str(MazurkaError.at(Span("", 0), "no")) == "no"
    assert str(MazurkaError.at(None, "no")) == "no"
