import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for one run, and remove it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def test_folder_that_is_missing():
    """violated: both find that the folder is missing, and the second one cannot make it."""
    with temporary_folder() as parent:
        folder = parent / "cache"

        def make():
            if not folder.exists():
                folder.mkdir()

        run_together(make, make)


def test_folder_that_may_be_there():
    """holds: `makedirs` accepts what another one has made."""
    with temporary_folder() as parent:
        folder = parent / "cache" / "deep"
        run_together(
            lambda: os.makedirs(folder, exist_ok=True), lambda: os.makedirs(folder, exist_ok=True)
        )
        assert folder.is_dir()


def test_update_of_a_file():
    """violated: the list is read, and written in a second step."""
    with temporary_folder() as parent:
        path = parent / "names.json"
        path.write_text("[]")

        def add(name):
            names = json.loads(path.read_text() or "[]")
            path.write_text(json.dumps([*names, name]))

        run_together(lambda: add("a"), lambda: add("b"))
        assert sorted(json.loads(path.read_text())) == ["a", "b"]


def replace(path, text):
    """Write a file beside another, and put it in its place."""
    beside = Path(f"{path}.{text}")
    beside.write_text(text)
    os.replace(beside, path)


def test_replaced_file():
    """holds: readers find the old file or the new one."""
    with temporary_folder() as parent:
        path = parent / "state"
        path.write_text("old")
        found = []
        run_together(lambda: replace(path, "new"), lambda: found.append(path.read_text()))
        assert found[0] in ("old", "new")


def test_rewritten_file():
    """violated: readers find a file that is empty for a moment."""
    with temporary_folder() as parent:
        path = parent / "state"
        path.write_text("old")
        found = []
        run_together(lambda: path.write_text("new"), lambda: found.append(path.read_text()))
        assert found[0] in ("old", "new")


def test_tree_that_is_removed_twice():
    """violated: what one has listed another one removes."""
    with temporary_folder() as parent:
        tree = parent / "tree"
        tree.mkdir()
        (tree / "leaf").touch()
        run_together(lambda: shutil.rmtree(tree), lambda: shutil.rmtree(tree))


def test_files_of_their_own():
    """holds: nobody uses the file of another one."""
    with temporary_folder() as parent:
        run_together(lambda: (parent / "a").write_text("1"), lambda: (parent / "b").write_text("2"))
        assert sorted(os.listdir(parent)) == ["a", "b"]
