"""One list says which versions of Python are supported; everything else agrees with it."""

from __future__ import annotations

import re
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

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
