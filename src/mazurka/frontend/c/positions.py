"""Where in the source a step is: the function, and the statement or call that it belongs to.

Steps carry the span of the expression that they come from.  Witnesses name places as validators
look for them: the beginning of a statement, and the closing parenthesis of a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from mazurka.frontend.c import read_unit, tree
from mazurka.ir.program import Span
from mazurka.search.reading import Reading


class SourcePosition(NamedTuple):
    """A place that a witness can name."""

    function: str
    statement: Span
    """Its beginning; column 0 where that is not known."""


def find_positions(path: str | Path, reading: Reading) -> Mapping[Span, SourcePosition]:
    """For each expression and statement of a program its function and its statement."""
    found: dict[Span, SourcePosition] = {}
    for function in read_unit(path, reading).functions.values():
        if function.defined:
            found.setdefault(function.span, SourcePosition(function.name, function.span))
            _note(function.read(), function.name, function.span, found)
    return found


def _note(node: object, function: str, statement: Span, found: dict[Span, SourcePosition]) -> None:
    if isinstance(node, tuple):
        for each in node:
            _note(each, function, statement, found)
    elif isinstance(node, tree.Variable):
        if node.local and node.initial is not None:
            _note(node.initial, function, statement, found)
    elif isinstance(node, tree.SyntaxNode):
        if isinstance(node, tree.Statement) and not isinstance(node, tree.Compound):
            statement = node.span
            if isinstance(node, tree.If | tree.LoopStatement | tree.Switch):
                statement = Span(statement.file, statement.line)  # the tree has the test's column
        found[node.span] = SourcePosition(function, statement)
        if isinstance(node, tree.Name):
            return  # its variable has been initialized elsewhere
        for each in fields(node):
            if each.name not in ("span", "type", "text"):
                _note(getattr(node, each.name), function, statement, found)
