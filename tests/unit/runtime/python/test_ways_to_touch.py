"""Whatever touches shared data is seen, by whichever way: each program fails in some order."""

from __future__ import annotations

from pathlib import Path

import pytest
from observed_programs import find_failing
from ways_to_touch import GROUPS, write_programs


@pytest.mark.parametrize("group", GROUPS)
def test_each_way_is_seen(tmp_path: Path, group: str) -> None:
    rows = GROUPS[group]
    names = [f"program_{number}" for number in range(len(rows))]
    failing = find_failing(tmp_path, write_programs(rows), names)
    held = [name for name, fails in zip(rows, failing, strict=True) if not fails]
    assert held == []


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_fails_unless_something_changes(tmp_path: Path, group: str) -> None:
    rows = {name: (setup, "pass", look) for name, (setup, _, look) in GROUPS[group].items()}
    names = [f"program_{number}" for number in range(len(rows))]
    failing = find_failing(tmp_path, write_programs(rows), names)
    assert [name for name, fails in zip(rows, failing, strict=True) if fails] == []
