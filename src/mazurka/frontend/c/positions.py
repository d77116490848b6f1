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
    loops: bool = False
    """Whether the place is the head of a loop, which is run again without a new beginning."""


def find_positions(path: str | Path, reading: Reading) -> Mapping[Span, SourcePosition]:
    """For each expression and statement of a program its function and its statement."""
    found: dict[Span, SourcePosition] = {}
    for function in read_unit(path, reading).functions.values():
        if function.defined:
            found.setdefault(function.span, SourcePosition(function.name, function.span))
            _note(function.read(), SourcePosition(function.name, function.span), found)
    return found


def _note(
    node: object, here: SourcePosition, found: dict[Span, SourcePosition], *, head: bool = False
) -> None:
    """Note where the parts of a node are; `head`: it belongs to the head of a loop."""
    if isinstance(node, tuple):
        for each in node:
            _note(each, here, found, head=head)
    elif isinstance(node, tree.Variable):
        if node.local and node.initial is not None:
            _note(node.initial, here, found)
    elif isinstance(node, tree.SyntaxNode):
        if isinstance(node, tree.Statement) and not isinstance(node, tree.Compound) and not head:
            start, loops = node.span, isinstance(node, tree.LoopStatement)
            if loops or isinstance(node, tree.If | tree.Switch):
                start = Span(start.file, start.line)  # the tree has the test's column
            here = SourcePosition(here.function, start, loops)
        found[node.span] = here
        if isinstance(node, tree.Name):
            return  # its variable has been initialized elsewhere
        for each in fields(node):
            if each.name not in ("span", "type", "text"):
                inside = isinstance(node, tree.LoopStatement) and each.name != "body"
                _note(getattr(node, each.name), here, found, head=inside or head)
