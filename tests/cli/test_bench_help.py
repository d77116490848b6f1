"""`mazurka bench NAME --help` tells what this benchmark takes."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "options", "subject"),
    [
        ("symbolic", {"--svg", "--limit-time"}, "back-ends"),
        ("cartesian", {"--workers", "--limit-time"}, "indexer"),
        ("speed", {"--order"}, "relaxation"),
    ],
)
def test_a_benchmark_lists_its_own_options(mazurka, name, options, subject):
    told = mazurka("bench", name, "--help")
    assert told.status == 0
    words = set(told.out.split())
    assert options <= words
    assert words.isdisjoint({"--svg", "--limit-time", "--workers", "--order"} - options)
    assert subject in words
    assert f"Example: mazurka bench {name} --only" in told.out
