"""Where Mazurka keeps what it need not make again: machine code, and rewritten sources."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def cache_directory() -> Path:
    """Return the directory of the cache; `MAZURKA_CACHE_DIR` says otherwise."""
    chosen = os.environ.get("MAZURKA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "mazurka"
