"""Parse the text of a model, and find the places of its syntax in the source."""

from __future__ import annotations

import ast
import re
import warnings

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.ir.program import Span

MOST_SHOWN = 40


def parse(source: str, file: str) -> ast.Module:
    """Parse a model; nothing of it is ever executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source, filename=file)
            compile(module, file, "exec", dont_inherit=True)  # finds a `break` outside a loop
    except SyntaxError as error:
        message = f"not valid Python: {error.msg}"
        line, column = error.lineno or 1, error.offset or None
        raise MazurkaError(message, file=file, line=line, column=column) from None
    except ValueError as error:
        raise MazurkaError(f"not valid Python: {error}", file=file, line=1) from None
    except (RecursionError, MemoryError):
        raise MazurkaError("nested too deeply for Python's own parser", file=file) from None
    if not module.body:
        raise MazurkaError("the file is empty; a model needs threads", file=file, line=1)
    _count_characters(module, source)
    _check_numbers(module, file)
    return module


def _count_characters(module: ast.Module, source: str) -> None:
    """Let columns count characters: the parser counts bytes of UTF-8."""
    if source.isascii():
        return
    lines = [line.encode() for line in re.split(r"\r\n|[\r\n]", source)]
    for node in ast.walk(module):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias):
            start, end = lines[node.lineno - 1], lines[(node.end_lineno or node.lineno) - 1]
            node.col_offset = len(start[: node.col_offset].decode(errors="replace"))
            if node.end_col_offset is not None:
                node.end_col_offset = len(end[: node.end_col_offset].decode(errors="replace"))


def span_of(node: ast.AST, file: str) -> Span:
    """Find the place of a piece of syntax, as far as it is known."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    end = 0
    if column and getattr(node, "end_lineno", None) == line:
        end = getattr(node, "end_col_offset", -1) + 1
    return Span(file, line, column, end)


def _check_numbers(module: ast.Module, file: str) -> None:
    """Refuse numbers beyond 64 bits; Python itself cannot print very long ones."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not fits(node.value):
            shown = shorten(hex(node.value) if node.value >= 10**30 else str(node.value))
            raise UnsupportedError.at(
                span_of(node, file), f"the number {shown} does not fit in 64 bits"
            )


def shorten(text: str) -> str:
    """Shorten a text that is too long to be read to its beginning."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
