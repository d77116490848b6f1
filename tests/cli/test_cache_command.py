"""`mazurka cache` shows where the cache is, and removes its files and no others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka.cache_folder import REWRITTEN, find_cache, find_entries


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a cache with two entries, and a file that does not belong to it."""
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path / "cache"))
    kernels, sources = find_cache(), find_cache(REWRITTEN)
    assert kernels is not None
    assert sources is not None
    kernels.write("full-0a1b.kernel", bytes(1_000_000))
    sources.write("0a1b.code", bytes(200_000))
    (kernels.folder / "notes.txt").write_text("mine")
    (kernels.folder / "full-0a1b.kernel.lock").touch()
    return kernels.folder


def test_it_shows_where_the_cache_is(folder: Path, mazurka: Callable[..., Any]) -> None:
    answer = mazurka("cache")
    assert (answer.status, answer.out) == (0, f"{folder}: 3 files, 1.2 MB\n")


def test_clearing_removes_the_files_of_the_cache_alone(
    folder: Path, mazurka: Callable[..., Any]
) -> None:
    assert mazurka("cache", "--clear").out == f"{folder}: removed 3 files, 1.2 MB\n"
    assert sorted(os.listdir(folder)) == ["notes.txt", REWRITTEN]
    assert mazurka("cache").out == f"{folder}: 0 files, 0.0 MB\n"


def test_a_file_that_cannot_be_removed_is_named(folder: Path, mazurka: Callable[..., Any]) -> None:
    (folder / "sorted-0a1b.kernel").mkdir()
    answer = mazurka("cache", "--clear")
    assert answer.status == 3
    assert answer.out.splitlines()[1].startswith(f"not removed: {folder}/sorted-0a1b.kernel: ")


def test_without_a_safe_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mazurka: Callable[..., Any]
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path / "cache"))
    answer = mazurka("cache", "--clear")
    assert (answer.status, answer.out) == (
        0,
        f"there is no cache: other users can write to {tmp_path}\n",
    )


def test_real_entries_are_found() -> None:
    """Those of this session: kernels that `tests/conftest.py` has asked for."""
    cache = find_cache()
    if cache is not None and any(cache.folder.glob("*.kernel")):
        assert {path.suffix for path in find_entries(cache.folder)} <= {".kernel", ".code", ".lock"}
        assert set(cache.folder.glob("*.kernel")) <= set(find_entries(cache.folder))
