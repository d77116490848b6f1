"""Only what this installation has written is read back, from the user's own directories alone."""

from __future__ import annotations

import ast
import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import mazurka
from mazurka import cache_folder
from mazurka.cache_folder import (
    KEY_FILE,
    Cache,
    UnsafeError,
    find_cache,
    find_private_cache,
    secure,
    why_no_cache,
)

HOME = Path(mazurka.__file__).parent
pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes are those of POSIX")
SOMEONE = 4321
"""The number of another user."""


@pytest.fixture
def own(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache", tmp_path / "state")


# -- what is read back -----------------------------------------------------------------------


def test_an_entry_is_read_back(own: Cache) -> None:
    assert own.read("entry") is None
    assert own.write("entry", b"content")
    assert own.read("entry") == b"content"
    assert stat.S_IMODE((own.folder / "entry").stat().st_mode) == 0o600
    assert own.write("entry", b"")
    assert own.read("entry") == b""
    assert sorted(os.listdir(own.folder)) == ["entry"]


def test_no_damaged_entry_is_read(own: Cache) -> None:
    """600 files: bits flipped, bytes replaced, cut off, longer, and of anything at all."""
    draw = random.Random(32)
    own.write("entry", bytes(range(256)) * 4)
    file = own.folder / "entry"
    whole = file.read_bytes()
    for number in range(600):
        content = bytearray(whole)
        at = draw.randrange(len(content))
        if number % 5 == 0:
            content[at] ^= 1 << draw.randrange(8)
        elif number % 5 == 1:
            content[at : at + 9] = draw.randbytes(9)
        elif number % 5 == 2:
            del content[at:]
        elif number % 5 == 3:
            content += draw.randbytes(1 + at)
        else:
            content = bytearray(draw.randbytes(at))
        file.write_bytes(content)
        assert own.read("entry") in (None, whole if bytes(content) == whole else None)


def test_an_entry_of_another_installation_is_not_read(own: Cache, tmp_path: Path) -> None:
    """A repository can bring a cache and a key, but not the key of its user."""
    theirs = Cache(tmp_path / "cache", tmp_path / "theirs")
    theirs.write("entry", b"evil")
    assert theirs.read("entry") == b"evil"
    assert own.read("entry") is None


def test_an_entry_is_not_read_under_another_name(own: Cache) -> None:
    own.write("old", b"content")
    os.rename(own.folder / "old", own.folder / "new")
    assert own.read("new") is None


@pytest.mark.parametrize("mode", [0o622, 0o660, 0o666])
def test_an_entry_that_others_can_write_to_is_not_read(own: Cache, mode: int) -> None:
    own.write("entry", b"content")
    (own.folder / "entry").chmod(mode)
    assert own.read("entry") is None


def test_what_is_not_a_file_is_not_read(own: Cache) -> None:
    """Not even waited for: nobody writes to the pipe."""
    own.write("entry", b"content")
    os.mkfifo(own.folder / "pipe")
    os.symlink("entry", own.folder / "link")
    (own.folder / "folder").mkdir()
    assert [own.read(name) for name in ("pipe", "link", "folder")] == [None, None, None]
    assert not own.write("folder", b"content")


def test_a_key_that_others_know_is_replaced(own: Cache, tmp_path: Path) -> None:
    own.write("entry", b"content")
    key = tmp_path / "state" / KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert Cache(own.folder, own.key_folder).read("entry") == b"content"
    key.chmod(0o644)
    assert Cache(own.folder, own.key_folder).read("entry") is None
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.write_bytes(b"short")
    Cache(own.folder, own.key_folder)
    assert len(key.read_bytes()) == cache_folder.KEY_BYTES


# -- which directories are used --------------------------------------------------------------


def test_missing_directories_are_made_for_the_user_alone(tmp_path: Path) -> None:
    secure(tmp_path / "one" / "two")
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "one" / "two").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_directory_that_others_can_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UnsafeError, match=r"other users can write to .*cache"):
        secure(folder)


def test_nothing_is_made_where_others_can_write(tmp_path: Path) -> None:
    """They could replace it; in a sticky directory, such as `/tmp`, they cannot."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UnsafeError, match="other users can write to"):
        secure(tmp_path / "open" / "cache")
    assert os.listdir(tmp_path / "open") == []
    (tmp_path / "open").chmod(0o1777)
    secure(tmp_path / "open" / "cache")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_not_used(tmp_path: Path) -> None:
    for folder, mode in (("theirs", 0o777), ("closed", 0o700)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder).chmod(mode)
        os.chown(tmp_path / folder, SOMEONE, SOMEONE)
        for place in (tmp_path / folder, tmp_path / folder / "cache"):
            with pytest.raises(UnsafeError, match="belongs to another user"):
                secure(place)
    own = Cache(tmp_path / "cache", tmp_path / "state")
    own.write("entry", b"content")
    os.chown(own.folder / "entry", SOMEONE, SOMEONE)
    assert own.read("entry") is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir(mode=0o700)
    os.symlink("own", tmp_path / "link")
    secure(tmp_path / "link" / "cache")
    assert (tmp_path / "own" / "cache").is_dir()
    os.chown(tmp_path / "link", SOMEONE, SOMEONE, follow_symlinks=False)
    with pytest.raises(UnsafeError, match="belongs to another user"):
        secure(tmp_path / "link" / "cache")


@pytest.mark.parametrize("target", ["open", "./open", "../{name}/open", "{path}/open"])
def test_a_link_to_an_unsafe_place_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    os.symlink(target.format(name=tmp_path.name, path=tmp_path), tmp_path / "link")
    with pytest.raises(UnsafeError, match="other users can write to"):
        secure(tmp_path / "link" / "cache")
    assert os.listdir(tmp_path / "open") == []


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    os.symlink("two", tmp_path / "one")
    os.symlink("one", tmp_path / "two")
    with pytest.raises(UnsafeError, match="too many links"):
        secure(tmp_path / "one")


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "cache"):
        with pytest.raises(UnsafeError, match="is not a directory"):
            secure(place)


def test_the_group_of_the_user_alone_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many systems make a user's directories writable for such a group."""
    tmp_path.chmod(0o770)
    status = tmp_path.stat()
    monkeypatch.setattr("os.getgid", lambda: status.st_gid)
    user = type("User", (), {"pw_name": "me"})
    monkeypatch.setattr("pwd.getpwuid", lambda number: user)
    for name, members, safe in (
        ("me", [], True),
        ("me", ["me"], True),
        ("me", ["me", "you"], False),
        ("staff", [], False),
    ):
        group = type("Group", (), {"gr_name": name, "gr_mem": members})
        monkeypatch.setattr("grp.getgrgid", lambda number, group=group: group)
        assert cache_folder.is_for_user_alone(str(tmp_path), status) is safe
    group = type("Group", (), {"gr_name": "me", "gr_mem": []})
    monkeypatch.setattr("grp.getgrgid", lambda number: group)
    monkeypatch.setattr("os.listxattr", lambda place: ["system.posix_acl_access"], raising=False)
    assert not cache_folder.is_for_user_alone(str(tmp_path), status)


# -- where they are --------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No variable says where the cache is; the user database knows a home directory."""
    for name in cache_folder.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr("pwd.getpwuid", lambda _: type("User", (), {"pw_dir": str(home)}))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return home


def test_where_the_cache_is(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder() -> Path:
        found = find_cache()
        assert found is not None
        return found.folder

    assert folder() == bare / ".cache" / "mazurka"
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert folder() == tmp_path / "other" / ".cache" / "mazurka"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder() == tmp_path / "xdg" / "mazurka"
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(tmp_path / "chosen"))
    assert folder() == tmp_path / "chosen"
    monkeypatch.setenv("MAZURKA_CACHE_DIR", "chosen")
    assert folder() == tmp_path / "here" / "chosen"
    found = find_cache()
    assert found is not None
    assert found.key_folder == tmp_path / "other" / ".local" / "state" / "mazurka"


@pytest.mark.parametrize("home", ["", ".", "~", "relative/home"])
def test_nothing_of_the_current_directory_is_taken_for_a_home(
    bare: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """Without `HOME` the cache was `./~/.cache`, which a repository can contain."""
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, home)
    found = find_cache()
    assert found is not None
    assert found.folder == bare / ".cache" / "mazurka"
    assert os.listdir() == []

    def unknown(number: int) -> object:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    cache_folder._find_cache.cache_clear()
    assert find_cache() is None
    assert why_no_cache() == "there is no home directory"
    assert os.listdir() == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_root_does_not_use_the_home_of_another_user(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `sudo` may leave it; what the user database says comes next."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    theirs.chmod(0o777)
    os.chown(theirs, SOMEONE, SOMEONE)
    monkeypatch.setenv("HOME", str(theirs))
    found = find_cache()
    assert found is not None
    assert found.folder == bare / ".cache" / "mazurka"
    monkeypatch.setenv("MAZURKA_CACHE_DIR", str(theirs))
    assert find_cache() is None
    assert why_no_cache() == f"{theirs} belongs to another user"
    assert os.listdir(theirs) == []


def test_a_private_cache_ends_with_its_process(tmp_path: Path) -> None:
    text = "from mazurka.cache_folder import *; c = find_private_cache(); print(c.folder)"
    text += "; print(c.write('entry', b'content'), c.read('entry'))"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], env=environment, capture_output=True, check=True
    )
    folder, kept = done.stdout.decode().splitlines()
    assert kept == "True b'content'"
    assert Path(folder).parent == tmp_path
    assert os.listdir(tmp_path) == []


def test_a_private_cache_is_not_made_where_others_could_replace_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    find_private_cache.cache_clear()
    found = find_private_cache()
    assert os.listdir(tmp_path) == []
    if found is not None:
        assert found.folder.parent != tmp_path
        cache_folder.remove_private(found.folder, os.getpid())
    find_private_cache.cache_clear()


# -- one module --------------------------------------------------------------------------------

READERS: dict[str, frozenset[str]] = {
    "marshal": frozenset({"runtime/rewrite/cached_sources.py"}),
    "pickle": frozenset(
        {
            "cluster/connection.py",
            "cluster/line.py",
            "cluster/orders.py",
            "cluster/ray_crew.py",
            "runtime/python/catalogue.py",
            "runtime/python/functions.py",
            "runtime/testing/cluster/process.py",
            "runtime/testing/cluster/worker.py",
        }
    ),
    "shelve": frozenset(),
    "dill": frozenset(),
    "cloudpickle": frozenset(),
    "joblib": frozenset(),
}
"""What can execute what it reads, and who imports it.  `marshal` reads what the cache returns;
pickles are on pipes between processes of one command, or on its cluster; the catalogue and the
functions only name them."""


def test_nothing_else_reads_what_is_executed() -> None:
    found: dict[str, set[str]] = {name: set() for name in READERS}
    for path in HOME.rglob("*.py"):
        name = path.relative_to(HOME).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                modules = [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                if module in found:
                    found[module].add(name)
    assert found == READERS


def test_who_asks_for_the_cache() -> None:
    """Kernels and rewritten sources, and the command that removes them: whatever else is kept has
    to carry a code, too."""
    asking = {
        path.relative_to(HOME).as_posix()
        for path in HOME.rglob("*.py")
        if "mazurka.cache_folder" in path.read_text("utf-8")
    }
    assert asking == {
        "cli/cache.py",
        "compiled/builders.py",
        "compiled/cache.py",
        "runtime/rewrite/cached_sources.py",
    }
