"""Functions of C code that use files and folders, and what they do to those that they are given."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, Final, NamedTuple


class FileUse(Enum):
    """What a function does to a path or a descriptor that it is given."""

    FIND = auto()
    """Finds out whether there is anything, and what it is."""
    EXAMINE = auto()
    """Reads what the system knows of it: its size, its times."""
    LIST = auto()
    """Reads what is in a folder."""
    CREATE = auto()
    CREATE_FOLDER = auto()
    REMOVE = auto()
    REMOVE_FOLDER = auto()
    MOVE = auto()
    """Takes it away, and puts it elsewhere; or what was elsewhere is put here."""
    LINK = auto()
    """Makes another name for the same file."""
    POINT = auto()
    """Makes a symbolic link."""
    ALTER = auto()
    """Changes its contents, or what the system knows of it."""
    READ = auto()
    """Reads through a descriptor, and moves its position."""
    WRITE = auto()
    """Writes through a descriptor, and moves its position."""
    SHIFT = auto()
    """Moves the position of a descriptor, or asks for it."""
    CLOSE = auto()
    ENTER = auto()
    """Makes a folder the current directory."""


class Given(NamedTuple):
    """An argument that is a path or a descriptor."""

    position: int
    names: tuple[str, ...]
    use: FileUse


class FileFunction(NamedTuple):
    """What a function does to the files that it is given."""

    words: str
    """What people call it."""
    given: tuple[Given, ...]
    folder: tuple[str, ...] = ("dir_fd",)
    """By argument: the name under which the descriptor of a folder is given where it begins."""
    follows: bool = True
    """Whether it uses what a symbolic link leads to, unless it is told not to."""


_PATH: Final = ("path", "file")
_BOTH: Final = (("src",), ("dst",))


def _one(words: str, use: FileUse, *, follows: bool = True) -> FileFunction:
    return FileFunction(words, (Given(0, (*_PATH, "fd"), use),), follows=follows)


def _two(words: str, first: FileUse, second: FileUse, *, follows: bool = False) -> FileFunction:
    given = (Given(0, _BOTH[0], first), Given(1, _BOTH[1], second))
    return FileFunction(words, given, ("src_dir_fd", "dst_dir_fd"), follows)


_ROWS: Final[dict[str, FileFunction]] = {
    **dict.fromkeys(("stat", "fstat"), _one("look at", FileUse.EXAMINE)),
    "lstat": _one("look at", FileUse.EXAMINE, follows=False),
    **dict.fromkeys(("access", "statvfs", "fstatvfs", "pathconf"), _one("look at", FileUse.FIND)),
    **dict.fromkeys(("fpathconf", "isatty"), _one("look at", FileUse.FIND)),
    **dict.fromkeys(
        ("_path_exists", "_path_isdir", "_path_isfile", "_path_isdevdrive"),
        _one("look for", FileUse.FIND),
    ),
    **dict.fromkeys(
        ("_path_islink", "_path_isjunction", "_path_lexists"),
        _one("look for", FileUse.FIND, follows=False),
    ),
    **dict.fromkeys(("getxattr", "listxattr"), _one("look at", FileUse.EXAMINE)),
    "readlink": _one("look at", FileUse.EXAMINE, follows=False),
    **dict.fromkeys(("listdir", "scandir"), _one("list", FileUse.LIST)),
    **dict.fromkeys(("chdir", "fchdir"), _one("enter folder", FileUse.ENTER)),
    **dict.fromkeys(("dup", "dup2"), _one("duplicate", FileUse.FIND)),
    "lockf": _one("lock", FileUse.FIND),
    "mkdir": _one("create folder", FileUse.CREATE_FOLDER, follows=False),
    **dict.fromkeys(("mkfifo", "mknod"), _one("create", FileUse.CREATE, follows=False)),
    "rmdir": _one("remove folder", FileUse.REMOVE_FOLDER, follows=False),
    **dict.fromkeys(("unlink", "remove"), _one("remove", FileUse.REMOVE, follows=False)),
    **dict.fromkeys(("rename", "replace"), _two("move", FileUse.MOVE, FileUse.MOVE)),
    "link": _two("link", FileUse.LINK, FileUse.LINK),
    "symlink": FileFunction("link", (Given(1, ("dst",), FileUse.POINT),), follows=False),
    **dict.fromkeys(
        ("chmod", "fchmod", "chown", "fchown", "utime", "truncate", "ftruncate", "chflags"),
        _one("change", FileUse.ALTER),
    ),
    **dict.fromkeys(("setxattr", "removexattr", "posix_fallocate"), _one("change", FileUse.ALTER)),
    **dict.fromkeys(("lchmod", "lchown", "lchflags"), _one("change", FileUse.ALTER, follows=False)),
    **dict.fromkeys(("read", "readv", "eventfd_read"), _one("read", FileUse.READ)),
    **dict.fromkeys(("pread", "preadv"), _one("read", FileUse.EXAMINE)),
    **dict.fromkeys(("write", "writev", "eventfd_write"), _one("write", FileUse.WRITE)),
    **dict.fromkeys(("pwrite", "pwritev"), _one("write", FileUse.ALTER)),
    **dict.fromkeys(("fsync", "fdatasync"), _one("flush", FileUse.FIND)),
    "lseek": _one("seek in", FileUse.SHIFT),
    "close": _one("close", FileUse.CLOSE),
    **dict.fromkeys(
        ("sendfile",),
        FileFunction(
            "copy",
            (Given(0, ("out_fd",), FileUse.WRITE), Given(1, ("in_fd",), FileUse.READ)),
        ),
    ),
    **dict.fromkeys(
        ("copy_file_range", "_fcopyfile", "splice"),
        FileFunction("copy", (Given(0, ("src",), FileUse.READ), Given(1, ("dst",), FileUse.WRITE))),
    ),
}
"""By the name of a function of `os` in C."""


def _find_in(module: str, *names: str) -> list[Any]:
    try:
        found = __import__(module)
    except ImportError:
        return []
    return [getattr(found, name) for name in names if hasattr(found, name)]


def _find_functions() -> Iterator[tuple[Any, FileFunction]]:
    native: Any = __import__(os.name)  # `posix` or `nt`
    for name, row in _ROWS.items():
        function = getattr(native, name, None)
        if function is not None:
            yield function, row


FILE_FUNCTIONS: Final[dict[Any, FileFunction]] = dict(_find_functions())
"""By function: what it does to the files that it is given."""
OPENING: Final[tuple[Any, ...]] = (io.open, io.open_code, io.FileIO, os.open)
"""Functions and classes that open files."""
LOCKING: Final[tuple[Any, ...]] = tuple(_find_in("fcntl", "flock"))
DATABASES: Final[tuple[Any, ...]] = tuple(_find_in("_sqlite3", "connect", "Connection", "Cursor"))
MAPS: Final[tuple[Any, ...]] = tuple(_find_in("mmap", "mmap"))
"""What locks files, opens databases and maps files into memory, where there is such a thing."""
ASKING: Final = frozenset(
    {"exists", "lexists", "isfile", "isdir", "islink", "ismount", "isjunction", "isdevdrive"}
    | {"is_file", "is_dir", "is_symlink", "is_mount", "is_junction", "_exists"}
)
"""Functions of the library that look at a file only to find out whether it is there, and what it
is."""
ASKING_MODULES: Final = frozenset(
    {"genericpath", "posixpath", "ntpath", "pathlib", "pathlib._local", "pathlib._abc", "glob"}
)
LASTING: Final = frozenset(
    {"fileno", "isatty", "readable", "writable", "seekable", "__enter__", "_checkClosed"}
    | {"_checkReadable", "_checkWritable", "_checkSeekable"}
)
"""Methods of files that neither read nor write them."""
