"""Which names in a source are shared between functions: its scopes, as the compiler sees them.

A global variable is observed if it is bound to anything but one function, class or module.  A local
variable is observed if functions inside capture it and it may be bound again, or for the first
time, after they have: every thread that runs such a function shares it.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Place: TypeAlias = tuple[int, int]


_READING: Final = frozenset({"get", "keys", "values", "items", "copy"})
"""Methods of a dictionary that read it."""


def mangle(name: str, class_name: str | None) -> str:
    """Make of a private name what the compiler makes of it inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


ANNOTATES_LATER: Final = sys.version_info >= (3, 14)
"""Whether annotations are evaluated when somebody asks for them, by functions of their own."""


def annotations_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.AST, str]]:
    """Yield the annotations of a function: what has one, and in which field.

    Before Python 3.14, those of a function with type parameters have a scope of their own, and are
    left out.
    """
    if getattr(node, "type_params", ()) and not ANNOTATES_LATER:
        return
    given = node.args
    every = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    yield from ((one, "annotation") for one in every if one is not None and one.annotation)
    if node.returns is not None:
        yield node, "returns"


def _evaluates_annotations(tree: ast.Module) -> bool:
    """Whether the annotations of a module are evaluated: with the import from `__future__` they are
    texts."""
    return not any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


def _place_of(node: ast.AST) -> Place:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


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
    captured_by_functions: set[str] = field(default_factory=set)
    """Names that functions inside use, generator expressions not counted."""
    literal: Counter[str] = field(default_factory=Counter)
    """How often a name is bound to a literal, or augmented by one."""
    is_annotation: bool = False
    """Whether it is the function that evaluates annotations (`ANNOTATES_LATER`)."""
    is_open: bool = False
    """Whether names can be bound here by other means than statements."""
    is_written: bool = False
    """Whether what `globals()` gives is used for anything but reading."""

    @property
    def is_function(self) -> bool:
        return self.kind in ("function", "generator", "comprehension")

    def bind(self, name: str, place: Place, again: bool = False) -> None:
        self.bound.setdefault(name, []).append((place, again))

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable a name is here; the module's for globals."""
        if name in self.globals:
            return self.module()
        if name not in self.nonlocals and name in self.bound:
            return self
        scope = self.parent
        if self.is_annotation and scope is not None and name in scope.bound:
            return scope  # which may be a class
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

    def is_literal(self, name: str) -> bool:
        """Whether a variable of this scope holds nothing but numbers and text."""
        return self.literal[name] == len(self.bound.get(name, ()))

    def is_shared_cell(self, name: str) -> bool:
        """Whether functions share a variable of this one that may change after they capture it."""
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
        """Whether functions inside a comprehension capture a variable of it."""
        return self.kind in ("comprehension", "generator") and name in self.captured_by_functions

    def has_shared_cells(self) -> bool:
        """Whether functions share any variable of this scope or of those around it."""
        if any(self.is_shared_cell(name) for name in self.bound):
            return True
        return self.parent is not None and self.parent.has_shared_cells()

    def is_shared_global(self, name: str) -> bool:
        """Whether a name of this module stands for data."""
        if name not in self.bound and name not in self.rebound:
            return self.is_open and not hasattr(builtins, name)
        if self.is_written:
            return True
        return name not in self.settled or name in self.rebound or len(self.bound[name]) > 1


class ScopeFinder(ast.NodeVisitor):
    """Finds the scopes of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.annotates = _evaluates_annotations(tree)
        """Whether annotations are evaluated."""
        self.scopes: dict[ast.AST, Scope] = {}
        self._scope = Scope("module", None)
        self.scopes[tree] = self._scope
        self._class: str | None = None
        self._loops = 0
        self._reading: set[int] = set()
        """The identities of names of functions whose results are only read."""
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
                    owner.captured_by_functions.add(name)
                capturing = capturing.parent
            if start is not None:
                owner.captures.setdefault(name, []).append(start)

    def _name(self, name: str) -> str:
        return mangle(name, self._class)

    def _bind(self, name: str, node: ast.AST) -> None:
        self._scope.bind(self._name(name), _place_of(node), self._loops > 0)

    def _bind_settled(self, name: str, node: ast.AST) -> None:
        self._bind(name, node)
        self._scope.settled.add(self._name(name))

    def _visit_inside(
        self, node: ast.AST, kind: str, parts: Sequence[ast.AST], names: Sequence[str] = ()
    ) -> None:
        """Visit what is in a scope of its own, in which some names are bound from the start."""
        outer, loops = self._scope, self._loops
        self._scope, self._loops = Scope(kind, outer, _place_of(node)), 0
        self.scopes[node] = self._scope
        parameters = [parameter.name for parameter in getattr(node, "type_params", ())]
        for name in (*names, *parameters):
            self._scope.bind(self._name(name), (0, 0))
        for part in parts:
            self.visit(part)
        self._scope, self._loops = outer, loops

    # -- scopes ------------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        given = node.args
        for default in (*given.defaults, *given.kw_defaults):
            if default is not None:
                self.visit(default)
        if not isinstance(node, ast.Lambda):
            annotations = [getattr(part, name) for part, name in annotations_of(node)]
            parameters = [one.name for one in getattr(node, "type_params", ())]
            self._visit_annotations(given, annotations, parameters)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        self._visit_inside(node, "function", body, [one.arg for one in every if one is not None])

    visit_Lambda = _visit_function

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
        self._visit_inside(node, "class", node.body)
        self._class = outer

    def _visit_comprehension(self, node: ast.AST) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)
        kind = "generator" if isinstance(node, ast.GeneratorExp) else "comprehension"
        parts: list[ast.AST] = [generator.iter for generator in generators[1:]]
        for generator in generators:
            parts += [generator.target, *generator.ifs]
        made = (getattr(node, name, None) for name in ("elt", "key", "value"))
        parts += [part for part in made if part is not None]  # `{**v for v in a}` has no value
        self._visit_inside(node, kind, parts)

    visit_ListComp = visit_SetComp = visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension

    # -- bindings ----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._scope.used.add(self._name(node.id))
            if node.id == "globals":
                module = self._scope.module()
                module.is_open = True
                module.is_written = module.is_written or id(node) not in self._reading
        else:
            self._bind(node.id, node)
            if isinstance(node.ctx, ast.Del):
                self._bind(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self._note_reading(node.value)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _READING:
            self._note_reading(node.value)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operand in node.comparators:
            self._note_reading(operand)
        self.generic_visit(node)

    def _note_reading(self, node: ast.expr) -> None:
        """Note that `globals()` is asked for an element there, and no more."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            self._reading.add(id(node.func))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope = self._scope
        while scope.kind in ("comprehension", "generator") and scope.parent is not None:
            scope = scope.parent
        name, again = self._name(node.target.id), self._loops > 0 or scope is not self._scope
        scope.bind(name, _place_of(node), again)
        self._scope.used.add(name)

    def _count_literal(self, value: ast.expr | None, *targets: ast.expr) -> None:
        if isinstance(value, ast.Constant):
            names = [self._name(target.id) for target in targets if isinstance(target, ast.Name)]
            self._scope.literal.update(names)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._count_literal(node.value, *node.targets)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._count_literal(node.value, node.target)
        if isinstance(node.target, ast.Name):
            self._scope.used.add(self._name(node.target.id))
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._count_literal(node.value, node.target)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)
        if self._scope.kind != "function" and (node.simple or not ANNOTATES_LATER):
            self._visit_annotations(node, [node.annotation])

    def _visit_annotations(
        self, node: ast.AST, annotations: Sequence[ast.expr], names: Sequence[str] = ()
    ) -> None:
        """Visit the annotations of a variable, or those of a function by its `arguments`."""
        if ANNOTATES_LATER and self.annotates and annotations:
            self._visit_inside(node, "function", annotations, names)
            self.scopes[node].is_annotation = True
            return
        for annotation in annotations if self.annotates else ():
            self.visit(annotation)

    def visit_Global(self, node: ast.Global) -> None:
        self._scope.globals.update(map(self._name, node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._scope.nonlocals.update(map(self._name, node.names))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self._bind_settled(alias.asname or alias.name.partition(".")[0], node)

    visit_ImportFrom = visit_Import

    def _visit_binding(self, node: ast.AST) -> None:
        name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name")
        if name is not None:
            self._bind(name, node)
            if isinstance(node, ast.ExceptHandler):  # which deletes it in the end
                self._bind(name, node)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = visit_ExceptHandler = _visit_binding

    def _visit_loop(self, node: ast.AST) -> None:
        self._loops += 1
        self.generic_visit(node)
        self._loops -= 1

    visit_For = visit_AsyncFor = visit_While = _visit_loop
