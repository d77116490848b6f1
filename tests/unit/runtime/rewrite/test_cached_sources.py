"""Rewritten sources are taken from the cache, unless something has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mazurka.runtime.core.sites import sites
from mazurka.runtime.rewrite import cached_sources
from mazurka.runtime.rewrite.cached_sources import compile_cached

SOURCE = b"def f(a):\n    return a.x\n" + b"#" * cached_sources.SMALL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path))
    return tmp_path / "rewritten"


def site_in(code: Any) -> str:
    """The only site of the only function in some code."""
    inner = next(one for one in code.co_consts if hasattr(one, "co_consts"))
    numbers = [one for one in inner.co_consts if type(one) is int]
    site = sites[numbers[0]]
    return f"{site.file}:{site.line}:{site.column}-{site.end_column} {site.role}"


def test_the_second_time_nothing_is_rewritten(folder: Path, monkeypatch: Any) -> None:
    first = compile_cached(SOURCE, "/a/f.py")
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(cached_sources, "rewrite_tree", None)
    again = compile_cached(SOURCE, "/a/f.py")
    assert site_in(first) == site_in(again) == "/a/f.py:2:11-14 read_attribute"


def test_another_source_or_path_is_another_entry(folder: Path) -> None:
    compile_cached(SOURCE, "/a/f.py")
    compile_cached(SOURCE + b"\n", "/a/f.py")
    assert site_in(compile_cached(SOURCE, "/a/g.py")).startswith("/a/g.py:")
    assert len(list(folder.iterdir())) == 3


def test_small_sources_and_broken_entries_are_rewritten(folder: Path) -> None:
    compile_cached(SOURCE[:25], "/a/f.py")
    assert not folder.exists()
    compile_cached(SOURCE, "/a/f.py")
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:50])
    assert site_in(compile_cached(SOURCE, "/a/f.py")).startswith("/a/f.py:2")


def test_the_oldest_entries_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_sources, "MOST", 4)
    for number in range(6):
        compile_cached(SOURCE, f"/a/{number}.py")
    assert len(list(folder.iterdir())) <= 4
