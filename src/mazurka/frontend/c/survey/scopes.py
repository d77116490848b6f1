"""Blocks: which variables each one declares, and which of these may be pointed to behind its end.

A block is a compound statement, a statement that chooses or repeats, or what such a statement runs
(C11, 6.8); parameters belong to the function.  A compound literal belongs to the block around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from mazurka.frontend.c import tree

Path = tuple[object, ...]
"""The blocks around something, the outermost first."""


@dataclass(slots=True)
class Scopes:
    """Where the variables and labels of a function are."""

    variables: dict[tree.Variable, Path] = field(default_factory=dict)
    labels: dict[str, Path] = field(default_factory=dict)

    def contains(self, outer: tree.Variable, inner: tree.Variable) -> bool:
        """Whether the first variable lives at least as long as the second."""
        around, within = self.variables.get(outer), self.variables.get(inner)
        return around is not None and within is not None and within[: len(around)] == around


def find_scopes(function: tree.CFunction) -> Scopes:
    """Find the blocks of a function."""
    scopes = Scopes()
    for parameter in function.parameters:
        scopes.variables[parameter] = (function,)
    _visit(function.read(), (function,), scopes)
    return scopes


def _visit(node: object, path: Path, scopes: Scopes) -> None:
    match node:
        case tree.Compound():
            path = (*path, node)
        case tree.If(test=test, then=then, otherwise=otherwise):
            path = (*path, node)
            _visit(test, path, scopes)
            _visit_part(then, path, scopes)
            _visit_part(otherwise, path, scopes)
            return
        case tree.Switch(value=value, body=body):
            path = (*path, node)
            _visit(value, path, scopes)
            _visit_part(body, path, scopes)
            return
        case tree.LoopStatement(initial=initial, test=test, step=step, body=body):
            path = (*path, node)
            _visit((initial, test, step), path, scopes)
            _visit_part(body, path, scopes)
            return
        case tree.Labelled(name=name):
            scopes.labels[name] = path
        case tree.CompoundLiteral(variable=variable):
            _visit(variable, path, scopes)
            return
        case tree.Variable():
            if node.local:
                scopes.variables.setdefault(node, path)
                _visit(node.initial, path, scopes)
            return
    if isinstance(node, tuple):
        for each in node:
            _visit(each, path, scopes)
    elif isinstance(node, tree.SyntaxNode) and not isinstance(node, tree.Name):
        for part in fields(node):
            if part.name not in ("span", "type", "text"):
                _visit(getattr(node, part.name), path, scopes)


def _visit_part(node: tree.Statement | None, path: Path, scopes: Scopes) -> None:
    """What another statement runs is a block of its own, with braces or without."""
    if node is not None and not isinstance(node, tree.Compound):
        path = (*path, node)
    _visit(node, path, scopes)
