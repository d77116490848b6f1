"""Python models: files that are parsed, never executed, and become `mazurka.ir` programs.

`docs/models.md` describes the language.  The result is raw: `mazurka.ir.passes.prepare` infers
ranges, folds constants and merges local steps afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mazurka.frontend.registry import Frontend, read_source
from mazurka.ir.program import Program
from mazurka.search.reading import FOR_C, Reading

_TELLING = re.compile(r"^\s*(from|import) (mazurka|threading|queue)\b|^threads\b.*=", re.MULTILINE)
"""A line that a Python model has and other languages do not."""


def load_model(
    path: str | Path,
    definitions: Mapping[str, str] | None = None,
    *,
    max_threads: int = 8,
    max_depth: int = 8,
) -> Program:
    """Read a model file; `definitions` override its constants (`-D NAME=VALUE`)."""
    from mazurka.frontend.python.elaboration import elaborate

    text = read_source(path, "a model (`.py`) or a C program (`.c`)")
    return elaborate(text, str(path), definitions, max_threads=max_threads, max_depth=max_depth)


def _load(path: str, reading: Reading) -> Program:
    reading.refuse(FOR_C)
    return load_model(
        path,
        reading.definitions,
        max_threads=reading.max_threads,
        max_depth=reading.max_depth,
    )


FRONTEND = Frontend(
    suffixes=(".py",),
    recognizes=lambda text: _TELLING.search(text) is not None,
    load=_load,
)
