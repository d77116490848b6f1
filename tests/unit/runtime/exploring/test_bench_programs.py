"""The twenty programs of `mazurka bench context-bounded`, explored: the right answer for each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mazurka.bench.contestant import PREEMPTIONS
from mazurka.bench.programs import DIRECTORY, PROGRAMS, TEST_FILE, copy_program
from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.testing.collecting import collect


def test_every_file_is_listed() -> None:
    others = {"__init__", "starting", "work_stealing"}
    assert {file.stem for file in DIRECTORY.glob("*.py")} - others == set(PROGRAMS)
    assert len(PROGRAMS) == 20


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_answer_is_right(program: str, tmp_path: Path) -> None:
    """As the benchmark does it: in a directory where it is no part of Mazurka."""
    copy_program(DIRECTORY / f"{program}.py", tmp_path)
    sys.modules.pop("program", None)  # the one before
    (found,) = collect(f"{tmp_path / TEST_FILE}::test")
    result = explore_test(found.test, ExploreOptions(preemptions=PREEMPTIONS))
    assert result.error is None
    _, failure = PROGRAMS[program]
    if failure is None:
        assert result.verdict == HOLDS
        assert result.violation is None
    else:
        assert result.verdict == VIOLATED
        assert result.violation is not None
        assert result.violation.kind == failure
