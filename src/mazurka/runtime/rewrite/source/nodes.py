"""Builds the nodes of rewritten source: calls of events, at the places of what they stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from mazurka.runtime.core.access_sites import MARK, AccessSite, number_of
from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.source.scopes import Scope, ScopeFinder, mangle

_PLACE: Final = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_LOAD: Final = ast.Load()
Event: TypeAlias = Callable[..., Any]
"""One of `Events`; its name is what rewritten code calls."""
Placed = TypeVar("Placed", bound=ast.AST)


def place(node: Placed, like: ast.AST) -> Placed:
    """Put a new node, and what is new in it, where an old one was.

    What has a place has only parts that have theirs; so the cost is that of the new ones.
    """
    where = {name: getattr(like, name) for name in _PLACE}
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        known = part.__dict__
        if "lineno" in known:
            continue
        parts = [value for value in known.values() if isinstance(value, (ast.AST, list))]
        if "lineno" in part._attributes:
            known.update(where)
        for value in parts:
            if isinstance(value, list):
                waiting += [inner for inner in value if isinstance(inner, ast.AST)]
            else:
                waiting.append(value)
    return node


class Nodes(ast.NodeTransformer):
    """Knows where in a module it is, and builds calls of events."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.file = file
        self.scopes = ScopeFinder(tree).scopes
        self.scope: Scope = self.scopes[tree]
        self.class_name: str | None = None

    def rewrite(self, node: ast.expr) -> ast.expr:
        visited = self.visit(node)
        assert isinstance(visited, ast.expr)
        return visited

    def rewrite_body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for statement in statements:
            visited = self.visit(statement)
            rewritten.extend(visited if isinstance(visited, list) else [visited])
        return rewritten

    def call(self, event: Event, node: ast.AST, *arguments: ast.expr) -> ast.Call:
        """Call an event in place of a node, with the number of its site as the last argument."""
        return self.call_without_site(event, node, *arguments, self.number_site(node, event))

    def call_without_site(self, event: Event, node: ast.AST, *arguments: ast.expr) -> ast.Call:
        events = ast.Name(MARK, _LOAD)
        function = ast.Attribute(events, event.__name__, _LOAD)
        call = ast.Call(function, list(arguments), [])
        where = {name: getattr(node, name) for name in _PLACE}
        for new in (call, function, events):
            new.__dict__.update(where)
        for argument in arguments:
            if "lineno" not in argument.__dict__:
                place(argument, node)
        return call

    def number_site(self, node: ast.AST, event: Event) -> ast.Constant:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end = (getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column))
        return ast.Constant(number_of(AccessSite(self.file, line, column, *end, event.__name__)))

    def receive(self, node: ast.expr) -> ast.expr:
        """Report the value of an expression, which may be new."""
        return self.call_without_site(Events.receive, node, node)

    def name_constant(self, name: str) -> ast.Constant:
        return ast.Constant(mangle(name, self.class_name))
