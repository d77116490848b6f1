"""Which names in a source are shared between functions: its scopes, as the compiler sees them.

A global variable is observed if it is bound to anything but one function, class or module.  A local
variable is observed if functions inside capture it and it may be bound again, or for the first
time, after they have: every thread that runs such a function shares it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Place: TypeAlias = tuple[int, int]


def mangle(name: str, class_name: str | None) -> str:
    """Make of a private name what the compiler makes of it inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


@dataclass
class Scope:
    """A module, class, function or comprehension, and the names in it."""

    kind: str
    parent: Scope | None
    start: Place = (0, 0)
    bound: dict[str, list[tuple[Place, bool]]] = field(default_factory=dict)
    """Where names are bound; whether that can happen again, or by other means than assignment."""
    settled: set[str] = field(default_factory=set)
    """Names bound by `def`, `class` or `import`, here."""
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    captures: dict[str, list[Place]] = field(default_factory=dict)
    """Names that functions inside use, and where those functions begin."""
    rebound: set[str] = field(default_factory=set)
    """Names that functions inside bind."""
    kept_by_functions: set[str] = field(default_factory=set)
    """Names that functions inside use, generator expressions not counted."""
    is_open: bool = False
    """Whether names can be bound here by other means than statements."""

    @property
    def is_function(self) -> bool:
        return self.kind in ("function", "generator", "comprehension")

    def bind(self, name: str, place: Place, again: bool = False) -> None:
        self.bound.setdefault(name, []).append((place, again))

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable a name is here; the module's for globals."""
        scope: Scope | None = self
        if name in self.globals:
            return self.module()
        if name not in self.nonlocals and name in self.bound:
            return self
        scope = self.parent
        while scope is not None:
            if scope.kind == "module":
                return scope
            if scope.is_function:
                if name in scope.globals:
                    return self.module()
                if name in scope.bound and name not in scope.nonlocals:
                    return scope
            scope = scope.parent
        return None

    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def is_shared_cell(self, name: str) -> bool:
        """Whether functions share a variable of this one that can change under their eyes."""
        captured = self.captures.get(name)
        if not captured or self.kind != "function":
            return False
        if name in self.rebound:
            return True
        binding = self.bound[name]
        if len(binding) > 1 or binding[0][1]:
            return True
        if name in self.settled:
            return False
        return any(place < binding[0][0] for place in captured)

    def is_captured_here(self, name: str) -> bool:
        """Whether functions inside a comprehension keep a variable of it."""
        return self.kind in ("comprehension", "generator") and name in self.kept_by_functions

    def has_shared_cells(self) -> bool:
        """Whether any variable that can be seen from here is such a one."""
        if any(self.is_shared_cell(name) for name in self.bound):
            return True
        return self.parent is not None and self.parent.has_shared_cells()

    def is_shared_global(self, name: str) -> bool:
        """Whether a name of this module stands for data."""
        if name not in self.bound and name not in self.rebound:
            return self.is_open and not hasattr(builtins, name)
        return name not in self.settled or name in self.rebound or len(self.bound[name]) > 1


class ScopeFinder(ast.NodeVisitor):
    """Finds the scopes of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.scopes: dict[ast.AST, Scope] = {}
        self._scope = Scope("module", None)
        self.scopes[tree] = self._scope
        self._class: str | None = None
        self._loops = 0
        for statement in tree.body:
            self.visit(statement)
        for scope in list(self.scopes.values()):
            self._resolve(scope)

    def _resolve(self, scope: Scope) -> None:
        for name in scope.used | scope.bound.keys():
            owner = scope.owner(name)
            if owner is None or owner is scope:
                continue
            if name in scope.bound:
                owner.rebound.add(name)
            capturing: Scope | None = scope
            start: Place | None = None
            while capturing is not None and capturing is not owner:
                if capturing.kind in ("function", "generator"):
                    start = capturing.start
                if capturing.kind == "function":
                    owner.kept_by_functions.add(name)
                capturing = capturing.parent
            if start is not None:
                owner.captures.setdefault(name, []).append(start)

    def _name(self, name: str) -> str:
        return mangle(name, self._class)

    def _bind(self, name: str, node: ast.AST) -> None:
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        self._scope.bind(self._name(name), place, self._loops > 0)

    def _bind_settled(self, name: str, node: ast.AST) -> None:
        self._bind(name, node)
        self._scope.settled.add(self._name(name))

    def _inside(self, node: ast.AST, kind: str, parts: Sequence[ast.AST]) -> Iterator[Scope]:
        outer, loops = self._scope, self._loops
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        self._scope, self._loops = Scope(kind, outer, place), 0
        self.scopes[node] = self._scope
        yield self._scope
        for part in parts:
            self.visit(part)
        self._scope, self._loops = outer, loops

    # -- scopes ------------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for scope in self._inside(node, "function", body):
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            for argument in (*every, arguments.vararg, arguments.kwarg):
                if argument is not None:
                    scope.bind(self._name(argument.arg), (0, 0))
            for parameter in getattr(node, "type_params", ()):
                scope.bind(self._name(parameter.name), (0, 0))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._bind_settled(node.name, node)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._visit_function(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind_settled(node.name, node)
        for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self.visit(part)
        outer, self._class = self._class, node.name
        for scope in self._inside(node, "class", node.body):
            for parameter in getattr(node, "type_params", ()):
                scope.bind(self._name(parameter.name), (0, 0))
        self._class = outer

    def _visit_comprehension(self, node: ast.AST) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)
        kind = "generator" if isinstance(node, ast.GeneratorExp) else "comprehension"
        parts: list[ast.AST] = []
        for index, generator in enumerate(generators):
            parts += [generator.target, *generator.ifs]
            if index:
                parts.append(generator.iter)
        if isinstance(node, ast.DictComp):
            parts += [node.key, node.value]
        else:
            parts.append(node.elt)  # type: ignore[attr-defined]
        for _ in self._inside(node, kind, parts):
            pass

    visit_ListComp = visit_SetComp = visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension

    # -- bindings ----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._scope.used.add(self._name(node.id))
            if node.id == "globals":
                self._scope.module().is_open = True
        else:
            self._bind(node.id, node)
            if isinstance(node.ctx, ast.Del):
                self._bind(node.id, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope = self._scope
        while scope.kind in ("comprehension", "generator") and scope.parent is not None:
            scope = scope.parent
        name = self._name(node.target.id)
        scope.bind(
            name, (node.lineno, node.col_offset), self._loops > 0 or scope is not self._scope
        )
        self._scope.used.add(name)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._scope.used.add(self._name(node.target.id))
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        self._scope.globals.update(map(self._name, node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.nonlocals.update(map(self._name, node.names))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind_settled(alias.asname or alias.name.partition(".")[0], node)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self._bind(node.name, node)
            self._bind(node.name, node)
        self.generic_visit(node)

    def _visit_capture(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self._bind(node.name, node)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = _visit_capture

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self._bind(node.rest, node)
        self.generic_visit(node)

    def _visit_loop(self, node: ast.AST) -> None:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    visit_For = visit_AsyncFor = visit_While = _visit_loop
