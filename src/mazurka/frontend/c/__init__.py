"""C with POSIX threads: files that are parsed, never executed, and become `mazurka.ir` programs.

`docs/c.md` describes the language.  The way of a file: `preprocessing` (macros, headers),
`parsing` (libclang; the syntax tree of `tree`), `program` (elaboration: memory as scalar cells,
calls inlined, threads), as paper 004 translates C in its section 4.1.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mazurka.errors import UnsupportedError
from mazurka.frontend.registry import Frontend, read_source
from mazurka.ir.program import Program
from mazurka.search.reading import Reading

if TYPE_CHECKING:
    from mazurka.frontend.c.tree import TranslationUnit

_TELLING = re.compile(
    r'^\s*#\s*(include\s*[<"]|\d+ ")|^\s*extern\b.*;|\bvoid\s*\*\s*\w+\s*\(\s*void', re.MULTILINE
)
"""A line that a C program has and other languages do not."""

_MARKED = re.compile(r'^# \d+ "', re.MULTILINE)
"""What a preprocessor leaves where text comes from another place."""

_READS_FILE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include|import|embed)", re.MULTILINE)
"""A line that only a preprocessor may read: the parser would read the system's headers."""

_LINE_NAME = re.compile(r"^[ \t]*#[ \t]*(?:line\b|\d)[^\r\n]*", re.MULTILINE)
"""A line that names the file of which others were generated, which need not be there."""


_PLACE = re.compile(r"\b__(?:LINE|FILE|FILE_NAME)__")


def load_c(path: str | Path, reading: Reading) -> Program:
    """Read a C program; `.i` files are taken as preprocessed."""
    from mazurka.frontend.c.lowering import Limits
    from mazurka.frontend.c.program import build_program

    limits = Limits(
        reading.max_threads,
        reading.max_depth,
        reading.heap,
        reading.overflow,
        reading.unwritten,
    )
    return build_program(read_unit(path, reading), limits)


def _refuse_places(name: str, text: str) -> None:
    """Refuse a text with `#line` directives that asks for lines or files: a macro before a
    directive may be used after it."""
    if found := _PLACE.search(text):
        raise UnsupportedError(
            f"`{found[0]}` is used beside a `#line` directive; remove the directives, or give"
            " the preprocessed file (gcc -E)",
            file=name,
            line=text.count("\n", 0, found.start()) + 1,
        )


def read_unit(path: str | Path, reading: Reading) -> TranslationUnit:
    """Preprocess and parse a C program."""
    from mazurka.frontend.c.preprocessing import preprocess
    from mazurka.frontend.c.source.parsing import parse

    name = str(path)
    text = read_source(path, "a C program (`.c` or `.i`)")
    model = reading.model
    preprocessed = Path(name).suffix == ".i" or (
        bool(_MARKED.search(text)) and not _READS_FILE.search(text)
    )
    if not preprocessed:
        # Messages name the lines of this file, which everybody can see.
        if _LINE_NAME.search(text):
            _refuse_places(name, text)
            text = _LINE_NAME.sub("", text)
        text = preprocess(name, text, reading.definitions, model)
    elif reading.definitions:
        reading.refuse({"definitions": "-D means nothing to a preprocessed file; give the .c file"})
    if found := _READS_FILE.search(text):
        raise UnsupportedError(
            "a preprocessed file includes another one; give the .c file",
            file=name,
            line=text.count("\n", 0, found.start()) + 1,
        )
    return parse(name, text, model, preprocessed=preprocessed)


FRONTEND = Frontend(
    suffixes=(".c", ".i", ".h"),
    recognizes=lambda text: _TELLING.search(text) is not None,
    load=load_c,
)
