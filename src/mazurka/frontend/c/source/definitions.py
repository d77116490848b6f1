"""Definitions of the library for preprocessed files, which have the declarations of other headers.

Functions such as `strlen` are C code in Mazurka's own headers.  A file that went through another
preprocessor only declares them; their definitions are put behind its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mazurka.frontend.c.preprocessing import HEADERS

_FILES = ("__mazurka_elements.h", "ctype.h", "string.h", "strings.h", "stdio.h")
_PIECE = re.compile(
    r"^static [^;{=]*?\b(?P<name>\w+)\([^;{]*\) \{(?:[^\n]*\}$|\n.*?^\})"
    r"|^(?:static|extern|struct) [^\n]*__mazurka_[^\n]*;$",
    re.MULTILINE | re.DOTALL,
)
"""A function, or a declaration that only Mazurka's headers have."""


def add_definitions(text: str, is_missing: Callable[[str], bool]) -> str:
    """Put the definitions of functions that are missing behind a text."""
    parts = [text, "#define size_t __SIZE_TYPE__", "extern void *malloc(size_t);"]
    for file in _FILES:
        parts += _list_pieces(file, is_missing)
    return "\n".join([*parts, ""])


def _list_pieces(file: str, is_missing: Callable[[str], bool]) -> Iterator[str]:
    """The code of a header, each piece behind a line that says where it comes from."""
    path = HEADERS / file
    text = path.read_text(encoding="utf-8")
    for found in _PIECE.finditer(text):
        piece, name = found[0], found["name"] or "__mazurka_"
        if not name.startswith("__mazurka_"):
            if not is_missing(name):
                continue
            piece = piece.removeprefix("static ")
        yield f'# {text.count(chr(10), 0, found.start()) + 1} "{path}"'
        yield piece
