"""One list says which versions of Python are supported; everything else agrees with it."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.limits import ENOUGH, NO_TIME

import mazurka
from mazurka.supported_pythons import FREE_THREADED, NEWEST, SUPPORTED, name, warn_if_newer

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def warned_afresh() -> Iterator[None]:
    warn_if_newer.cache_clear()
    yield
    warn_if_newer.cache_clear()


def test_classifiers_are_the_supported_versions() -> None:
    classifiers = PROJECT["project"]["classifiers"]
    versions = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c) for c in classifiers]
    assert [found[1] for found in versions if found] == [name(version) for version in SUPPORTED]
    assert set(FREE_THREADED) <= set(SUPPORTED)


def test_the_oldest_version_is_required_everywhere() -> None:
    oldest = name(SUPPORTED[0])
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")


def test_a_newer_version_is_used_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (*NEWEST, 9, "final", 0))
    warn_if_newer()
    warn_if_newer.cache_clear()
    monkeypatch.setattr(sys, "version_info", (3, NEWEST[1] + 1, 0, "alpha", 1))
    with pytest.warns(RuntimeWarning, match="newer than the versions that Mazurka supports"):
        warn_if_newer()
    with warnings.catch_warnings(record=True) as again:
        warn_if_newer()
    assert again == []


def test_exploring_on_a_newer_version_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, NEWEST[1] + 1, 0, "final", 0))
    with pytest.warns(RuntimeWarning, match="newer than the versions"):
        assert mazurka.explore(lambda: None, preemptions=0).verdict == "holds"


OTHERS = runpy.run_path(str(ROOT / ".ci" / "other_pythons.py"))


def test_other_versions_are_tested_from_the_list() -> None:
    assert OTHERS["SUPPORTED"] == [name(version) for version in SUPPORTED]
    assert OTHERS["FREE_THREADED"] == [f"{name(version)}t" for version in FREE_THREADED]
    assert set(OTHERS["REQUIRED"]) <= set(OTHERS["SUPPORTED"])
    assert set(OTHERS["BUILT"]) <= set(OTHERS["FREE_THREADED"])


@pytest.mark.parametrize("name", ["TESTS", "FEWER_TESTS"])
def test_the_tests_of_real_threads_exist(name: str) -> None:
    listed = (ROOT / OTHERS[name].removeprefix("@")).read_text(encoding="utf-8").split()
    assert listed
    assert [place for place in listed if not (ROOT / place).exists()] == []


def test_a_failed_step_is_one_line(tmp_path: Path) -> None:
    """With the last line of its output; the log has all of it, and its children are ended."""
    log = tmp_path / "logs" / "step.log"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        OTHERS["run"](["sh", "-c", "sleep 600 & echo one; echo two; exit 3"], log, ENOUGH)
    assert OTHERS["describe"](caught.value) == "sh: exit status 3: two"
    assert log.read_text().endswith("one\ntwo\n")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        OTHERS["run"](["sleep", "600"], log, NO_TIME)
    assert OTHERS["describe"](caught.value) == "sleep: more than 1e-09 minutes"


def test_nothing_is_removed_through_a_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sid" / "work").mkdir(parents=True)
    monkeypatch.setitem(
        OTHERS["remove"].__globals__, "mounts_below", lambda folder: [f"{folder}/work"]
    )
    with pytest.raises(OTHERS["NotTestedError"], match="sid/work is still mounted"):
        OTHERS["remove"](tmp_path / "sid")
    assert (tmp_path / "sid" / "work").is_dir()
