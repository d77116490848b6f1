"""No race of C11 is missed where atomic operations are too weak to order accesses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mazurka
from tests.soundness.amounts import shares
from tests.soundness.profiles import random_programs
from tests.soundness.relaxed_races import has_race, make_threads, write_program


def verdict_of(path: Path, seed: int) -> tuple[str, bool]:
    """What a check for races says, and whether there is a race."""
    threads = make_threads(seed)
    path.write_text(write_program(threads))
    found = mazurka.check(path, strategy="full", properties=("race",))
    return found.verdict, has_race(threads)


@settings(random_programs, max_examples=shares(12))
@given(seed=st.integers(0, 10**6))
def test_no_race_is_missed(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    pytest.importorskip("clang")
    verdict, race = verdict_of(tmp_path_factory.mktemp("relaxed") / "program.c", seed)
    assert verdict != ("holds" if race else "violated")
