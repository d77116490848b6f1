"""Rewritten sources on disk: what one process has rewritten, the next one only reads.

A file of the cache is named after everything that its content depends on: the source, its path, the
versions of Python and Mazurka, and the modules that rewrite.  What cannot be read or written is
rewritten each time.
"""

from __future__ import annotations

import ast
import hashlib
import marshal
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType

from mazurka.cache_folder import REWRITTEN, find_cache
from mazurka.runtime.core.sites import RUNTIME_FOLDER
from mazurka.runtime.rewrite.source.relocation import relocate
from mazurka.runtime.rewrite.source.statements import compile_tree, rewrite_tree
from mazurka.version import __version__

SMALL = 3_000
"""Sources of fewer bytes are rewritten in no more time than it takes to find them."""
MOST = 3_000
"""How many files the cache may have."""


def compile_cached(source: bytes, file: str) -> CodeType:
    """Compile a source to code that reports its accesses, or take that from the cache."""
    entries = find_cache(REWRITTEN) if len(source) >= SMALL else None
    if entries is None:
        return compile_tree(ast.parse(source, file), file)
    name = f"{_key(source, file)}.code"
    kept = entries.read(name)
    if kept is not None:
        return relocate(*marshal.loads(kept))
    found = rewrite_tree(ast.parse(source, file), file)
    if entries.write(name, marshal.dumps(found)):
        _remove_oldest(entries.folder)
    return relocate(*found)


def _key(source: bytes, file: str) -> str:
    digest = hashlib.sha256(_rewriter().encode())
    digest.update(f"{file}\0{sys.version}\0{sys.flags.optimize}\0".encode())
    digest.update(source)
    return digest.hexdigest()[:40]


@cache
def _rewriter() -> str:
    """Hash the modules that decide what rewritten code looks like."""
    digest = hashlib.sha256(__version__.encode())
    folder = Path(RUNTIME_FOLDER)
    for module in sorted([*(folder / "rewrite" / "source").glob("*.py"), Path(__file__)]):
        digest.update(module.read_bytes())
    return digest.hexdigest()


def _remove_oldest(folder: Path) -> None:
    """Remove half of the files where there are too many: their sources have changed since."""
    with suppress(OSError):  # another process may do the same
        with os.scandir(folder) as entries:
            files = [entry.path for entry in entries]
        if len(files) > MOST:
            for file in sorted(files, key=os.path.getmtime)[: MOST // 2]:
                os.unlink(file)
