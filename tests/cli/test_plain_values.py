"""Values of the command line that need no conversion."""

from __future__ import annotations

import pytest

from mazurka.cli.plain_values import read_plainly
from mazurka.cli.tuning import flag_in


@pytest.mark.parametrize(
    ("value", "wanted", "read"),
    [
        ("text", str, "text"),
        (False, bool, False),
        (8, int, 8),
        ("12", int, 12),
        ("2", float, 2.0),
        ("0.25", float, 0.25),
        (("N=3", "M=4"), list[str], ["N=3", "M=4"]),
    ],
)
def test_plain_values(value, wanted, read):
    found = read_plainly(value, wanted)
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        *[(word, int) for word in ("", "-1", "1.0", "1_000", " 1", "1\n", "\u0663", "9" * 16)],
        *[(word, float) for word in ("nan", "1e3", ".5", "1.", "-2")],
        (1, float),
        (3, str),
        ("yes", bool),
        ("N=3", list[str]),
        ((), list[str]),
        ((1,), list[str]),
        (("1",), list[int]),
    ],
)
def test_everything_else_is_left_to_the_library(value, wanted):
    assert read_plainly(value, wanted) is None


def test_flags():
    assert [flag_in(word) for word in ("--order=bfs", "--json", "-DN=3", "-D", "-h")] == [
        *("--order", "--json", "-D", "-D", "-h")
    ]
