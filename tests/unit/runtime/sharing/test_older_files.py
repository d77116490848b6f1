"""Files that runs change are put back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mazurka.runtime.sharing import older_files
from mazurka.runtime.sharing.older_files import CannotKeepError, OlderFiles


def shown(folder: Path) -> dict[str, object]:
    """All that is in a folder: contents, modes, times, targets of links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        what: object = os.readlink(path) if path.is_symlink() else None
        if path.is_file() and not path.is_symlink():
            what = path.read_bytes()
        times = state.st_mtime_ns if path.is_file() and not path.is_symlink() else None
        found[str(path.relative_to(folder))] = (state.st_mode, what, times)
    return found


def make_tree(folder: Path) -> Path:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "x").write_text("one")
    (folder / "a" / "b" / "y").write_text("two")
    (folder / "a" / "x").chmod(0o640)
    (folder / "link").symlink_to("a")
    return folder


def test_what_a_run_changes_is_put_back(tmp_path: Path) -> None:
    before = shown(make_tree(tmp_path))
    kept = OlderFiles()
    for name in ("a/x", "a/b/y", "new", "made", "made/z", "link"):
        kept.meet(f"{tmp_path}/{name}")
    (tmp_path / "a" / "x").write_text("changed")
    (tmp_path / "a" / "x").chmod(0o600)
    (tmp_path / "a" / "b" / "y").unlink()
    (tmp_path / "new").write_text("new")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "z").touch()
    (tmp_path / "link").unlink()
    (tmp_path / "link").mkdir()
    assert shown(tmp_path) != before
    kept.put_back()
    assert shown(tmp_path) == before


def test_a_tree_that_has_been_moved_is_put_back(tmp_path: Path) -> None:
    before = shown(make_tree(tmp_path))
    kept = OlderFiles()
    kept.meet_all(f"{tmp_path}/a")
    kept.meet_all(f"{tmp_path}/other")
    (tmp_path / "a").rename(tmp_path / "other")
    (tmp_path / "other" / "x").write_text("changed")
    kept.put_back()
    assert shown(tmp_path) == before


def test_the_next_run_is_put_back_to_the_same_state(tmp_path: Path) -> None:
    before = shown(make_tree(tmp_path))
    kept = OlderFiles()
    for text in ("three", "four"):
        kept.meet(f"{tmp_path}/a/x")
        (tmp_path / "a" / "x").write_text(text)
        kept.put_back()
        assert shown(tmp_path) == before


def test_what_no_run_has_met_stays(tmp_path: Path) -> None:
    make_tree(tmp_path)
    kept = OlderFiles()
    kept.meet(f"{tmp_path}/a/x")
    (tmp_path / "mine").write_text("kept")
    kept.put_back()
    assert (tmp_path / "mine").read_text() == "kept"


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_files, "MOST", 5)
    (tmp_path / "x").write_text("four")
    (tmp_path / "y").write_text("more")
    kept = OlderFiles()
    kept.meet(f"{tmp_path}/x")
    with pytest.raises(CannotKeepError, match=r"y \(4 bytes\)"):
        kept.meet(f"{tmp_path}/y")
