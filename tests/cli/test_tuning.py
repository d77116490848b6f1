"""The words of a command line, before they are parsed."""

from __future__ import annotations

from mazurka.cli.tuning import flag_in


def test_flags():
    assert [flag_in(word) for word in ("--order=bfs", "--json", "-DN=3", "-D", "-h")] == [
        *("--order", "--json", "-D", "-D", "-h")
    ]
