"""Why an assertion failed: `ok is False (assert ok)`.

A comparison that is asserted alone is explained by the rewritten code itself.  Of other assertions
the exception says nothing, so the variables that they name are looked up in the frame that raised
it, without running any code of the user's.

The values have to be those at the failure.  Where the exception leaves a `with` or a `try` on its
way, other threads may run before it arrives here; then only local variables with plain values are
shown, which nobody else can change.
"""

from __future__ import annotations

import ast
import linecache
import threading
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from mazurka.runtime.core.sites import RUNTIME_FOLDER
from mazurka.runtime.core.values import MISSING, attribute_of, element_of, is_plain, shown

MOST = 4
"""Values that are shown."""
LONGEST = 60
_PARSED = 64


def explain_assertion(error: BaseException) -> str | None:
    """Explain a failed assertion; None where the exception says it itself."""
    if type(error) is not AssertionError:
        return None
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return None
    source = source_of(innermost.tb_frame)
    node = assertion_at(source, innermost.tb_lineno)
    if node is None or (node.msg is None and error.args):
        return None
    looked_up = FrameValues(innermost.tb_frame, steady=is_steady(error.__traceback__))
    parts = [f"{name} is {value}" for name, value in looked_up.parts(node.test).items()][:MOST]
    if node.msg is None:
        return f"{', '.join(parts) or 'not true'} (assert {text_of(source, node.test)})"
    return f"{error}; {', '.join(parts)} (assert {text_of(source, node.test)})" if parts else None


class FrameValues:
    """Values of the variables of a frame that has raised an exception."""

    def __init__(self, frame: FrameType, *, steady: bool) -> None:
        self._frame = frame
        self._names = frame.f_locals
        self._steady = steady
        code = frame.f_code
        self._captured = {*code.co_freevars, *code.co_cellvars}

    def parts(self, node: ast.AST) -> dict[str, str]:
        """Return what an expression is about: its variables and parts of objects, with values."""
        found: dict[str, str] = {}
        self._collect(node, found)
        return found

    def _collect(self, node: ast.AST, found: dict[str, str]) -> None:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            value = self.value(node)
            text = "" if value is MISSING else shown(value)
            if text and not issubclass(type(value), (type, FunctionType, ModuleType)):
                if not text.startswith("<"):  # the class of an object says nothing
                    found.setdefault(ast.unparse(node), text)
                return
        for child in _children(node):
            self._collect(child, found)

    def value(self, node: ast.AST) -> Any:
        """Return the value of an expression that is a variable, or a part of what one holds."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._variable(node.id)
        if not self._steady:
            return MISSING
        if isinstance(node, ast.Attribute):
            base = self.value(node.value)
            return MISSING if base is MISSING else attribute_of(base, node.attr)
        if isinstance(node, ast.Subscript):
            base, key = self.value(node.value), self.value(node.slice)
            known = base is not MISSING and is_plain(key)
            return element_of(base, key) if known else MISSING
        return MISSING

    def _variable(self, name: str) -> Any:
        if name in self._names:
            value = self._names[name]
            own = is_plain(value) and name not in self._captured
            return value if self._steady or own else MISSING
        return self._frame.f_globals.get(name, MISSING) if self._steady else MISSING


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that have values in the frame itself."""
    match node:
        case ast.Call(func=ast.Name()):
            yield from (*node.args, *(keyword.value for keyword in node.keywords))
        case ast.Call(func=ast.Attribute(value=receiver)):
            yield receiver
            yield from (*node.args, *(keyword.value for keyword in node.keywords))
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            yield node.generators[0].iter
        case ast.Lambda():
            return
        case _:
            yield from ast.iter_child_nodes(node)


def source_of(frame: FrameType) -> str:
    return "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))


@lru_cache(maxsize=_PARSED)
def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@lru_cache(maxsize=_PARSED)
def assertion_at(source: str, line: int) -> ast.Assert | None:
    """Return the assertion on a line, if it is the only one there."""
    found = [
        node
        for node in ast.walk(_parsed(source))
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=_PARSED)
def _guarded_lines(source: str) -> frozenset[int]:
    """Return the lines after whose exceptions other code runs, before they reach the caller."""
    lines: set[int] = set()
    for node in ast.walk(_parsed(source)):
        if isinstance(node, (ast.With, ast.AsyncWith, ast.Try, ast.TryStar)):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(lines)


def is_steady(trace: TracebackType | None) -> bool:
    """Whether an exception has come straight from where it was raised."""
    while trace is not None:
        frame = trace.tb_frame
        own = frame.f_code.co_filename.startswith((RUNTIME_FOLDER, threading.__file__))
        if not own and trace.tb_lineno in _guarded_lines(source_of(frame)):
            return False
        trace = trace.tb_next
    return True


@lru_cache(maxsize=_PARSED)
def text_of(source: str, node: ast.expr) -> str:
    text = " ".join((ast.get_source_segment(source, node) or ast.unparse(node)).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
