"""Python models: files that are parsed, never executed, and become `mazurka.ir` programs.

`docs/models.md` describes the language.  The result is raw: `ir.passes.prepare` infers ranges,
folds constants and merges local steps afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mazurka.frontend.python.elaboration import elaborate
from mazurka.frontend.python.source import read_source
from mazurka.ir.program import Program

__all__ = ["elaborate", "load_model"]


def load_model(
    path: str | Path,
    definitions: Mapping[str, str] | None = None,
    *,
    max_threads: int = 8,
    max_depth: int = 8,
) -> Program:
    """Read a model file; `definitions` override its constants (`-D NAME=VALUE`)."""
    return elaborate(
        read_source(path), str(path), definitions, max_threads=max_threads, max_depth=max_depth
    )
