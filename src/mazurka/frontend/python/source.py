"""From a path to a syntax tree, with an error for every way in which that can go wrong."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.frontend.kit.arithmetic import fits

MOST_SHOWN = 40


def read_source(path: str | Path) -> str:
    """The text of a model file."""
    file = str(path)
    place = Path(path)
    if place.is_dir():
        raise MazurkaError("this is a directory; give a model file (`.py`)", file=file)
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        raise MazurkaError("no such file", file=file) from None
    except OSError as error:
        raise MazurkaError(f"cannot be read: {error.strerror or error}", file=file) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MazurkaError("not a text file in UTF-8", file=file, line=line) from None


def parse(source: str, file: str) -> ast.Module:
    """The syntax tree; nothing of it is ever executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source, filename=file)
            compile(module, file, "exec", dont_inherit=True)  # finds a `break` outside a loop
    except SyntaxError as error:
        message = f"not valid Python: {error.msg}"
        raise MazurkaError(message, file=file, line=error.lineno or 1) from None
    except ValueError as error:
        raise MazurkaError(f"not valid Python: {error}", file=file, line=1) from None
    except (RecursionError, MemoryError):
        raise MazurkaError("nested too deeply for Python's own parser", file=file) from None
    if not module.body:
        raise MazurkaError("the file is empty; a model needs threads", file=file, line=1)
    _check_numbers(module, file)
    return module


def _check_numbers(module: ast.Module, file: str) -> None:
    """Python itself refuses to print very long numbers, so none may get further than this."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not fits(node.value):
            shown = shortened(hex(node.value) if node.value >= 10**30 else str(node.value))
            raise UnsupportedError(
                f"the number {shown} does not fit in 64 bits", file=file, line=node.lineno
            )


def shortened(text: str) -> str:
    """The text, or its beginning where it is too long to be read."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
