"""Rewritten sources on disk: what one process has rewritten, the next one only reads.

A file of the cache is named after everything that its content depends on: the source, its path, the
version of Python, and the modules that rewrite.  It is replaced by renaming, so a process reads all
of it or nothing.  What cannot be read or written is rewritten anew each time.
"""

from __future__ import annotations

import ast
import hashlib
import marshal
import os
import sys
from _thread import get_ident
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from mazurka.cache_folder import cache_directory
from mazurka.runtime.core.sites import RUNTIME_FOLDER
from mazurka.runtime.rewrite.source.relocation import relocate
from mazurka.runtime.rewrite.source.statements import compile_tree, rewrite_tree

SMALL = 3_000
"""Sources of fewer bytes are rewritten in no more time than it takes to find them."""
MOST = 3_000
"""How many files the cache may have."""


def compile_cached(source: bytes, file: str) -> CodeType:
    """Compile a source to code that reports its accesses, or take that from the cache."""
    if len(source) < SMALL:
        return compile_tree(ast.parse(source, file), file)
    path = cache_directory() / "rewritten" / f"{_key(source, file)}.code"
    found = _read(path)
    if found is None:
        found = rewrite_tree(ast.parse(source, file), file)
        _write(path, found)
    return relocate(*found)


def _key(source: bytes, file: str) -> str:
    digest = hashlib.sha256(_rewriter().encode())
    digest.update(f"{file}\0{sys.version}\0{sys.flags.optimize}\0".encode())
    digest.update(source)
    return digest.hexdigest()[:40]


@cache
def _rewriter() -> str:
    """Hash the modules that decide what rewritten code looks like."""
    digest = hashlib.sha256()
    folder = Path(RUNTIME_FOLDER)
    for module in sorted([*(folder / "rewrite" / "source").glob("*.py"), Path(__file__)]):
        digest.update(module.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[CodeType, list[Any]] | None:
    try:
        code, places = marshal.loads(path.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return (code, places) if isinstance(code, CodeType) else None


def _write(path: Path, found: tuple[CodeType, list[Any]]) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # `tempfile` would draw names that the program, which may use it, too, would then not get.
        own = path.with_suffix(f".{os.getpid()}-{get_ident()}")
        try:
            own.write_bytes(marshal.dumps(found))
            os.replace(own, path)
        except BaseException:
            own.unlink(missing_ok=True)
            raise
        _remove_oldest(path.parent)


def _remove_oldest(folder: Path) -> None:
    """Remove half of the files where there are too many: their sources have changed since."""
    with os.scandir(folder) as entries:
        files = [entry.path for entry in entries]
    if len(files) > MOST:
        for file in sorted(files, key=os.path.getmtime)[: MOST // 2]:
            with suppress(OSError):  # another process does the same
                os.unlink(file)
