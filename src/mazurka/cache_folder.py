"""Keep what need not be made again: machine code, and rewritten sources.

All of it is executed, so it must be Mazurka's own.  This module alone reads and writes it.

*The directory* must belong to the user, and nobody else may be able to write to it, or to replace
it by another one: so all directories above it belong to the user or the system, and others cannot
write to them unless they are sticky, as `/tmp` is (`secure`).  `MAZURKA_CACHE_DIR` names another
directory, to which the same applies.

*The key*.  A repository can bring a directory that belongs to whoever has cloned it.  So each entry
begins with a code that only this user's installation can compute: HMAC-SHA-256 of the entry's name
and content, with a random key.  The key is in a private file below the user's home directory,
wherever the cache is.  An entry with a wrong code counts as missing: whoever asks for it makes it
again.

Without a safe place kernels are kept in a private directory of this process (`find_private_cache`),
and rewritten sources are not kept.
"""

from __future__ import annotations

import atexit
import hmac
import os
import re
import stat
import sys
from _thread import get_ident
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from os import urandom  # before a test may have put its own in its place
from pathlib import Path

FORMAT = b"mazurka 2\n"
CODE_BYTES = 32
KEY_BYTES = 32
KEY_FILE = "cache-key"
REWRITTEN = "rewritten"
"""The room for rewritten sources."""
ENTRY = re.compile(r"[\w-]+\.(kernel|code)(\.lock|\.\d+-\d+)?")
"""The names of entries, of locks on them, and of entries that are being written."""
MOST_BYTES = 1 << 28
"""A larger file is not one of the cache."""
MOST_LINKS = 40
VARIABLES = ("MAZURKA_CACHE_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME", "LOCALAPPDATA")
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
READING = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
LOCKING = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class UnsafeError(Exception):
    """A directory cannot be used: others could change what is in it, or it cannot be made."""


class Cache:
    """A directory of entries, which carry a code made with a key."""

    def __init__(self, folder: Path, key_folder: Path) -> None:
        """Raise `UnsafeError` if one of the directories is not safe."""
        secure(folder)
        secure(key_folder)
        self.folder = folder
        self.key_folder = key_folder
        self._key = read_key(key_folder)

    def read(self, name: str) -> bytes | None:
        """Return an entry; None if there is none, or not one that this installation has made."""
        content = read_own(self.folder / name)
        if content is None or not content.startswith(FORMAT):
            return None
        start = len(FORMAT) + CODE_BYTES
        body = content[start:]
        right = hmac.compare_digest(content[len(FORMAT) : start], self._code(name, body))
        return body if right else None

    def write(self, name: str, body: bytes) -> bool:
        """Keep an entry, whole or not at all; return whether that was possible."""
        return write_own(self.folder / name, FORMAT + self._code(name, body) + body)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Let one process at a time make an entry; where there are no locks, all make it."""
        file = self.folder / f"{name}.lock"
        try:
            descriptor = os.open(file, LOCKING, 0o600)
        except OSError:
            yield
            return
        try:
            with suppress(ImportError, OSError):
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            with suppress(OSError):
                os.unlink(file)
            os.close(descriptor)

    def is_locked(self, name: str) -> bool:
        """Return whether another process makes an entry."""
        try:
            import fcntl

            descriptor = os.open(self.folder / f"{name}.lock", LOCKING & ~os.O_CREAT)
        except (ImportError, OSError):
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return False

    def is_writable(self) -> bool:
        return os.access(self.folder, os.W_OK | os.X_OK)

    def _code(self, name: str, body: bytes) -> bytes:
        return hmac.digest(self._key, name.encode() + b"\0" + body, "sha256")


def find_entries(folder: Path) -> Iterator[Path]:
    """Yield the files of a cache, of every version of Mazurka; a directory may have others, too."""
    for room in ("", REWRITTEN):
        for path in (folder / room).glob("*"):
            if ENTRY.fullmatch(path.name):
                yield path


# -- which directories -----------------------------------------------------------------------


def find_cache(room: str = "") -> Cache | None:
    """Return the user's cache, or a room of it; None where there is no safe place."""
    found = _find_cache(room, *map(os.environ.get, VARIABLES))
    return found if isinstance(found, Cache) else None


def why_no_cache() -> str:
    """Say why there is no safe place for the cache; empty if there is one."""
    found = _find_cache("", *map(os.environ.get, VARIABLES))
    return found if isinstance(found, str) else ""


@cache
def _find_cache(room: str, *_: str | None) -> Cache | str:
    try:
        folder = choose_safe(cache_directories())
        return Cache(folder / room, choose_safe(state_directories()))
    except UnsafeError as error:
        return str(error)


def choose_safe(folders: Sequence[Path]) -> Path:
    """Return the first safe one of some directories."""
    reasons = ["there is no home directory"]
    for folder in folders:
        try:
            secure(folder)
        except UnsafeError as error:
            reasons.append(str(error))
        else:
            return folder
    raise UnsafeError(reasons[min(1, len(reasons) - 1)])


def cache_directories() -> list[Path]:
    """Return where the cache may be; `MAZURKA_CACHE_DIR` names the only place."""
    chosen = os.environ.get("MAZURKA_CACHE_DIR")
    if chosen:
        return [Path(os.path.abspath(chosen))]
    return find_places("XDG_CACHE_HOME", ".cache")


def state_directories() -> list[Path]:
    """Return where the key may be, which does not depend on where the cache is."""
    return find_places("XDG_STATE_HOME", os.path.join(".local", "state"))


def find_places(variable: str, usual: str) -> list[Path]:
    """Return the directory that a variable names, or those below the home directories.

    A relative path would be one of the current directory, and so is not taken."""
    chosen = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else variable, "")
    if os.path.isabs(chosen):
        return [Path(chosen, "mazurka")]
    return [Path(home, usual, "mazurka") for home in find_homes() if os.path.isabs(home)]


def find_homes() -> list[str]:
    """Return the home directory, and that of the user database, which may be another one."""
    homes = [os.environ.get("HOME", "")]
    with suppress(ImportError, KeyError):
        import pwd

        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    return homes


@cache
def find_private_cache() -> Cache | None:
    """Make a cache for this process and those that it starts; None where there is no place."""
    for parent in (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp", os.environ.get("TEMP", "")):
        folder = Path(parent) / f"mazurka-{urandom(8).hex()}"
        with suppress(UnsafeError):
            found = Cache(folder, folder) if os.path.isabs(parent) else None
            if found is not None:
                atexit.register(remove_private, folder, os.getpid())
                return found
    return None


def remove_private(folder: Path, process: int) -> None:
    if os.getpid() == process:  # and not a copy of it
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


# -- what is safe ----------------------------------------------------------------------------


def secure(folder: Path) -> None:
    """Make a directory if there is none; raise `UnsafeError` if others could change what is in it.

    Each step of the path is looked at, those to which links lead included."""
    try:
        if hasattr(os, "getuid"):
            for place, is_last in follow(folder):
                require_own(place, is_last=is_last)
        else:  # Windows: what lies below the user's own directories is the user's own
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnsafeError(f"{error.filename or folder} cannot be used: {reason}") from None


def follow(folder: Path) -> Iterator[tuple[str, bool]]:
    """Walk to a directory from the root, through links; make the directories that are missing.

    Yields each step, and whether it is the last.  What a step contains is looked at after the step
    has been yielded, so that nothing is made, and no link followed, in an unsafe place."""
    here, rest, links = os.path.abspath(os.sep), [*folder.parts[:0:-1]], 0
    yield here, not rest
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        step = os.path.dirname(here) if name == ".." else os.path.join(here, name)
        try:
            status = os.lstat(step)
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process makes it, too
                os.mkdir(step, 0o700)
            status = os.lstat(step)
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MOST_LINKS:
                raise UnsafeError(f"{folder} cannot be used: too many links")
            yield step, False
            target = os.readlink(step)
            here = os.path.abspath(os.sep) if os.path.isabs(target) else here
            rest.extend(reversed(target.split(os.sep)))
            continue
        here = step
        yield here, not rest


def require_own(place: str, *, is_last: bool) -> None:
    """Raise `UnsafeError` if somebody but the user and the system could change a place."""
    status, me = os.lstat(place), os.getuid()
    if status.st_uid != me and (is_last or status.st_uid != 0):
        raise UnsafeError(f"{place} belongs to another user")
    if stat.S_ISLNK(status.st_mode):
        return  # whoever could replace it could write to the directory in which it is
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeError(f"{place} is not a directory")
    sticky = status.st_mode & stat.S_ISVTX and not is_last
    if status.st_mode & WRITABLE_BY_OTHERS and not sticky and not is_for_user_alone(place, status):
        raise UnsafeError(f"other users can write to {place}")


def is_for_user_alone(place: str, status: os.stat_result) -> bool:
    """Return whether the group that can write to a directory is the user's own.

    Many systems give each user such a group, and let it write to all that the user makes."""
    if status.st_mode & stat.S_IWOTH or status.st_gid != os.getgid():
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    alone = group.gr_name == user and set(group.gr_mem) <= {user}
    return alone and not has_access_list(place)


def has_access_list(place: str) -> bool:
    """Return whether others may have rights that the mode does not show."""
    try:
        return "system.posix_acl_access" in os.listxattr(place)
    except AttributeError:  # not on Linux
        return False


# -- files -----------------------------------------------------------------------------------


def read_own(file: Path, *, private: bool = False) -> bytes | None:
    """Return the content of a file of the user's, to which others cannot write.

    With `private`, others cannot read it either."""
    try:
        descriptor = os.open(file, READING)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        right = stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES
        if hasattr(os, "getuid"):
            others = OPEN_TO_OTHERS if private else WRITABLE_BY_OTHERS
            right = right and status.st_uid == os.getuid() and not status.st_mode & others
        if not right:
            return None
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write_own(file: Path, content: bytes) -> bool:
    """Write a private file, whole or not at all; return whether that was possible."""
    # `tempfile` would draw names that the program, which may use it, too, would then not get.
    own = f"{file}.{os.getpid()}-{get_ident()}"
    try:
        with suppress(FileNotFoundError):
            os.unlink(own)
        try:
            with open(os.open(own, WRITING, 0o600), "wb") as stream:
                stream.write(content)
            os.replace(own, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(own)
            raise
    except OSError:
        return False
    return True


def read_key(folder: Path) -> bytes:
    """Return the key of this installation; make one if there is none, or one that others know."""
    file = folder / KEY_FILE
    for _ in range(2):
        found = read_own(file, private=True)
        if found is not None and len(found) == KEY_BYTES:
            return found
        # Where two processes do so at once, entries of one of them are made again later.
        if not write_own(file, urandom(KEY_BYTES)):
            break
    raise UnsafeError(f"no key can be kept in {folder}")
