"""Annotations are understood or refused, all of them, before anything else is looked at.

A range that is overlooked is a check that is silently missing.  So whatever is not known to say
nothing about ranges (`int`, `None`, classes, `threading.Lock`) must be a range in a place where
ranges are checked.  Annotations written as strings are replaced by what they say.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mazurka.errors import UnsupportedError
from mazurka.frontend.python.source import (
    MODEL,
    OPEN_MODULES,
    advise_on_name,
    import_names,
    span_of,
)
from mazurka.frontend.python.survey import facts_of, walk_own_nodes

INT, BOOL = f"{MODEL}.Int", f"{MODEL}.Bool"

_PLAIN = frozenset({"int", "bool", "list", "tuple"})
_OBJECT_MODULES = frozenset({"threading", "queue"}) | OPEN_MODULES

Function = ast.FunctionDef | ast.AsyncFunctionDef


class RangeCheck(ast.stmt):
    """Added at the beginning of a function for a parameter with a range."""

    _fields = ("value", "annotation")
    value: ast.Name
    annotation: ast.expr


def understand_annotations(module: ast.Module, known: Collection[str], file: str) -> None:
    """Check every annotation; parameters with ranges get a statement that checks them."""
    names: dict[str, str] = {}
    lines: dict[str, int] = {}
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = import_names(node, known, file)
            names |= {name: imported.path for name, imported in found.items()}
            lines = dict.fromkeys(found, node.lineno) | lines
    classes = {node.name for node in module.body if isinstance(node, ast.ClassDef)}
    _Reader(names, lines, frozenset(classes), known, file).read(module)


@dataclass(frozen=True)
class _Reader:
    names: dict[str, str]
    lines: dict[str, int]
    classes: frozenset[str]
    known: Collection[str]
    file: str

    def read(self, module: ast.Module) -> None:
        functions, made = [], self._made_fields(module)
        for node in list(ast.walk(module)):
            if isinstance(node, ast.AnnAssign) and id(node) not in made:
                node.annotation = self._parsed(node.annotation)
                self._check(node.annotation)
            elif isinstance(node, Function):
                functions.append(node)
                self._signature(node)
        declared = {
            node.target.id
            for node in module.body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and self._is_number(node.annotation)
        }
        for function in functions:
            self._check_hiding(function, declared)

    def _made_fields(self, module: ast.Module) -> set[int]:
        """Find fields such as `items: Array(Int[0, 9], 3)`: making a record evaluates them."""
        fields = [
            node
            for owner in module.body
            if isinstance(owner, ast.ClassDef)
            for node in owner.body
            if isinstance(node, ast.AnnAssign) and node.value is None
        ]
        return {
            id(node)
            for node in fields
            if isinstance(node.annotation, ast.Call) and self._path(node.annotation.func) != INT
        }

    def _signature(self, node: Function) -> None:
        every = [argument for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        checks: list[ast.stmt] = []
        for argument in every:
            if argument.annotation is None:
                continue
            argument.annotation = self._parsed(argument.annotation)
            self._check(argument.annotation)
            if self._is_number(argument.annotation):
                name = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
                check = RangeCheck()
                check.value, check.annotation = name, argument.annotation
                checks.append(ast.copy_location(check, argument))
        node.body[:0] = checks
        if node.returns is not None:
            node.returns = self._parsed(node.returns)
            self._check(node.returns)
            if self._is_number(node.returns):
                shown = ast.unparse(node.returns)
                plain = "bool" if self._path(node.returns) == BOOL else "int"
                raise self._refuse(
                    node.returns,
                    f"the range of `-> {shown}` would not be checked; write `-> {plain}`, and"
                    f" declare a variable for the result: `result: {shown} = ...`",
                )

    def _check_hiding(self, function: Function, declared: set[str]) -> None:
        facts = facts_of(function.body)
        given = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        hidden = {name for name in declared - given if facts.is_local(name)}
        for node in walk_own_nodes(function.body):
            match node:
                case ast.Name(name, ast.Store()) if name in hidden:
                    raise self._refuse(
                        node,
                        f"`{name}` here is a local variable that hides the shared `{name}`; add"
                        f" `global {name}`, or give the local another name",
                    )

    def _parsed(self, annotation: ast.expr) -> ast.expr:
        """Parse an annotation that is a string; any other is returned as it is."""
        if not (isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)):
            return annotation
        try:
            inner = ast.parse(annotation.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise self._unknown(annotation) from None
        for node in ast.walk(inner):
            ast.copy_location(node, annotation)
        return inner

    def _is_number(self, annotation: ast.expr) -> bool:
        if isinstance(annotation, ast.Subscript):
            return self._path(annotation.value) == INT
        return self._path(annotation) == BOOL

    def _check(self, annotation: ast.expr) -> None:
        """Refuse an annotation unless it is a range or has nothing to do with ranges."""
        for name in _names(annotation):
            line = self.lines.get(name.id, 0)
            if line > name.lineno:
                raise self._refuse(name, f"`{name.id}` is imported later, at line {line}")
        if self._is_number(annotation):
            return
        for name in _names(annotation):
            if name.id not in self.names.keys() | self.classes | _PLAIN:
                candidates = (*self.names, *self.classes, "Int", "Bool")
                advice = advise_on_name(name.id, candidates, self.known)
                if advice:
                    raise self._refuse(name, f"the name `{name.id}` is not defined{advice}")
        if self._path(annotation) == INT:
            raise self._refuse(annotation, "`Int` needs a range here: `Int[lo, hi]`")
        match annotation:
            case ast.Call(func, [first, last]) if self._path(func) == INT:
                ends = f"{ast.unparse(first)}, {ast.unparse(last)}"
                raise self._refuse(annotation, f"a range is written `Int[{ends}]`, with brackets")
        if not self._is_harmless(annotation):
            raise self._unknown(annotation)

    def _is_harmless(self, annotation: ast.expr) -> bool:
        match annotation:
            case ast.Constant(value) if value is None or value is ...:
                return True
            case ast.Constant(str()):
                return self._is_harmless(self._parsed(annotation))
            case ast.Name(name) if name in self.classes | _PLAIN:
                return True
            case ast.Name() | ast.Attribute():
                path = self._path(annotation)
                numbers = path in (INT, BOOL)
                owner = path.rpartition(".")[0]
                return not numbers and (path in self.known or owner in _OBJECT_MODULES)
            case ast.Subscript(base, ast.Tuple(parts) | ast.List(parts)):
                return self._is_harmless(base) and all(map(self._is_harmless, parts))
            case ast.Subscript(base, part):
                return self._is_harmless(base) and self._is_harmless(part)
            case ast.BinOp(left, ast.BitOr(), right):
                return self._is_harmless(left) and self._is_harmless(right)
            case _:
                return False

    def _path(self, node: ast.expr) -> str:
        """Find the full name of something imported; empty for anything else."""
        match node:
            case ast.Name(name):
                return self.names.get(name, "")
            case ast.Attribute(value, name):
                owner = self._path(value)
                return f"{owner}.{name}" if owner else ""
            case _:
                return ""

    def _unknown(self, annotation: ast.expr) -> UnsupportedError:
        return self._refuse(
            annotation,
            f"annotation `{ast.unparse(annotation)}` is not understood; use Int[lo, hi], Bool, int"
            " or bool",
        )

    def _refuse(self, node: ast.expr, message: str) -> UnsupportedError:
        return UnsupportedError.at(span_of(node, self.file), message)


def _names(annotation: ast.expr) -> Iterator[ast.Name]:
    return (node for node in ast.walk(annotation) if isinstance(node, ast.Name))
