"""Rewrites a module so that it shows its accesses: from source to code objects.

Every construct that may touch shared data becomes a call of a function that does the same and
tells about it (`runtime.python`), reached through one name in the module's
namespace.  Evaluation order, line numbers, scopes and free variables stay as they are, so that the
code of a live function can be exchanged for the rewritten one.

Left as they are: decorators, annotations, base classes, names in class bodies and at the level of
the module, and functions that look at the frame of their caller (`super`, `locals`, ...).

An assignment to one attribute or subscript becomes a call.  Where a target is one of several, or
belongs to a loop or `with`, it becomes an attribute of a *spot*, an object that performs the
assignment when the attribute is set; so each target is evaluated exactly when it would be.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.expressions import place
from mazurka.runtime.rewrite.patterns import Patterns
from mazurka.runtime.rewrite.scopes import mangled


def compile_rewritten(source: str | bytes, file: str) -> CodeType:
    """The code of a module that shows its accesses."""
    return compile_tree(ast.parse(source, file), file)


def compile_tree(tree: ast.Module, file: str) -> CodeType:
    """The same for what has been parsed."""
    rewritten = Statements(tree, file).visit(tree)
    return compile(rewritten, file, "exec", dont_inherit=True)


class Statements(Patterns):
    """Rewrites a whole module."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        super().__init__(tree, file)
        self.unbound: list[str] = []
        """Names of the present function that are bound by spots."""

    # -- assignments -------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:  # noqa: N802
        value = self.expression(node.value)
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                return self.stored(target, value, node)
            if isinstance(target, ast.Name):
                node.value = self.before_binding(target, value)
                return node
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
            value = self.call(Events.unpack, node.value, value)
        node.value = value
        node.targets = [self.target(target) for target in node.targets]
        return node

    def stored(
        self, target: ast.Attribute | ast.Subscript, value: ast.expr, node: ast.stmt
    ) -> ast.stmt:
        thing = self.expression(target.value)
        if isinstance(target, ast.Attribute):
            name = self.name_constant(target.attr)
            call = self.call(Events.write_attribute, target, value, thing, name)
        else:
            call = self.call(Events.write_item, target, value, thing, self.key(target.slice))
        return place(ast.Expr(call), node)

    def target(self, node: ast.expr) -> ast.expr:
        """An assignment target that is not alone."""
        if isinstance(node, (ast.Tuple, ast.List)):
            node.elts = [self.target(element) for element in node.elts]
            return node
        if isinstance(node, ast.Starred):
            node.value = self.target(node.value)
            return node
        spot = self.spot(node)
        return node if spot is None else place(ast.Attribute(spot, "value", ast.Store()), node)

    def spot(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Attribute):
            thing, name = self.expression(node.value), self.name_constant(node.attr)
            return self.call(Events.attribute_target, node, thing, name)
        if isinstance(node, ast.Subscript):
            return self.call(
                Events.item_target, node, self.expression(node.value), self.key(node.slice)
            )
        if isinstance(node, ast.Name):
            match self.sort_of(node.id):
                case "global":
                    return self.call(Events.global_target, node, self.name_constant(node.id))
                case "cell":
                    self.keep_bound(node.id)
                    return self.call(Events.captured_target, node, self.look(node))
        return None

    def keep_bound(self, name: str) -> None:
        """A name that its function binds no more must remain a variable of that function."""
        if mangled(name, self.class_name) in self.scope.bound:
            self.unbound.append(name)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:  # noqa: N802
        target, sign = node.target, ast.Constant(type(node.op).__name__)
        if isinstance(target, ast.Attribute):
            thing, name = self.expression(target.value), self.name_constant(target.attr)
            holding = self.call(Events.hold_attribute, target, thing, name)
            role = Events.augment_attribute
        elif isinstance(target, ast.Subscript):
            holding = self.call(
                Events.hold_item, target, self.expression(target.value), self.key(target.slice)
            )
            role = Events.augment_item
        else:
            return self._augment_name(node, target, sign)
        return place(ast.Expr(self.call(role, node, holding, self.added(node), sign)), node)

    def added(self, node: ast.AugAssign) -> ast.expr:
        return self.expression(node.value)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name, sign: ast.Constant) -> ast.stmt:
        old = self.visit_Name(place(ast.Name(target.id, ast.Load()), target))
        sort = self.sort_of(target.id)
        if not sort and (isinstance(node.value, ast.Constant) or self.scope.kind == "class"):
            node.value = self.added(node)
            return node
        new: ast.expr = self.call(Events.augment, node, old, self.added(node), sign)
        return place(ast.Assign([target], self.before_binding(target, new)), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:  # noqa: N802
        if node.value is None:
            return node
        node.value = self.expression(node.value)
        if isinstance(node.target, ast.Name):
            node.value = self.before_binding(node.target, node.value)
        else:
            node.target = self.target(node.target)  # type: ignore[assignment]
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:  # noqa: N802
        return [statement for target in node.targets for statement in self._deleted(target)]

    def _deleted(self, target: ast.expr) -> list[ast.stmt]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return [statement for part in target.elts for statement in self._deleted(part)]
        if isinstance(target, ast.Attribute):
            thing, name = self.expression(target.value), self.name_constant(target.attr)
            call: ast.expr = self.call(Events.delete_attribute, target, thing, name)
        elif isinstance(target, ast.Subscript):
            thing = self.expression(target.value)
            call = self.call(Events.delete_item, target, thing, self.key(target.slice))
        else:
            assert isinstance(target, ast.Name)
            if self.sort_of(target.id) == "global":
                call = self.call(Events.delete_global, target, self.name_constant(target.id))
                return [place(ast.Expr(call), target)]
            nothing = place(ast.Constant(None), target)
            before = self.before_binding(target, nothing)
            deletion = place(ast.Delete([target]), target)
            if before is nothing:
                return [deletion]
            return [place(ast.Expr(before), target), deletion]
        return [place(ast.Expr(call), target)]

    # -- control -----------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:  # noqa: N802
        if isinstance(node.value, ast.Call):
            node.value = self.called(node.value)
        elif not isinstance(node.value, ast.Constant):
            node.value = self.expression(node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:  # noqa: N802
        node.iter = self.steps(node.iter, node.target)
        node.target = self.target(node.target)
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:  # noqa: N802
        node.iter, node.target = self.expression(node.iter), self.target(node.target)
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:  # noqa: N802
        node.test = self.tested(node.test)
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:  # noqa: N802
        """Each round shows that it begins, in functions."""
        node.test = self.tested(node.test)
        node.body, node.orelse = self.body(node.body), self.body(node.orelse)
        if self.scope.is_function:
            node.body.insert(
                0, place(ast.Expr(self.call(Events.begin_round, node.test)), node.test)
            )
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:  # noqa: N802
        """A comparison that fails says what was compared."""
        test = node.test
        message = None if node.msg is None else self.expression(node.msg)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and message is None:
            left = self.expression(test.left)
            right = self.expression(test.comparators[0])
            sign = ast.Constant(type(test.ops[0]).__name__)
            site = self.site(test, Events.assert_comparison)
            node.test = self.plain_call(Events.assert_comparison, test, left, right, sign, site)
            node.msg = self.plain_call(Events.explain_assertion, test, ast.Constant(site.value))
        else:
            node.test, node.msg = self.tested(test), message
        return node

    def _visit_with(self, node: ast.With | ast.AsyncWith) -> ast.stmt:
        for part in node.items:
            part.context_expr = self.expression(part.context_expr)
            if part.optional_vars is not None:
                part.optional_vars = self.target(part.optional_vars)
        node.body = self.body(node.body)
        return node

    visit_With = visit_AsyncWith = _visit_with  # noqa: N815

    # -- definitions -------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        fills = any(_decorates(each, "lru_cache", "cache") for each in node.decorator_list)
        node.decorator_list = [self.expression(each) for each in node.decorator_list]
        self.defaults(node.args)
        outer, self.scope = self.scope, self.scopes[node]
        unbound, self.unbound = self.unbound, []
        node.body = self.body(node.body)
        if fills:
            self._show_filling(node)
        for name in dict.fromkeys(self.unbound):
            binding = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
            never = ast.If(ast.Constant(False), [binding], [])
            node.body.append(place(never, node.body[-1]))
        self.scope, self.unbound = outer, unbound
        return [*self._binds(node.name, node), node]

    def _show_filling(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What the function returns is put into a cache after it has ended."""
        filling = place(ast.Expr(self.call(Events.fill_cache, node)), node.body[-1])
        whole = place(ast.Try(node.body, [], [], [filling]), node.body[0])
        documented = ast.get_docstring(node, clean=False) is not None
        if documented:
            whole.body = node.body[1:] or [place(ast.Pass(), node.body[0])]
        node.body = [node.body[0], whole] if documented else [whole]

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:  # noqa: N802
        before = self._binds(node.name, node)
        node.decorator_list = [self.expression(each) for each in node.decorator_list]
        node.bases = [self.expression(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.expression(keyword.value)
        outer, self.scope = self.scope, self.scopes[node]
        outer_class, self.class_name = self.class_name, node.name
        node.body = self.body(node.body)
        self.scope, self.class_name = outer, outer_class
        return [*before, node, *(self._show_class(node) if outer.kind == "function" else ())]

    def _show_class(self, node: ast.ClassDef) -> list[ast.stmt]:
        """A class that is a new one whenever its function is called is named by who makes it."""
        made: ast.expr = self.made(place(ast.Name(node.name, ast.Load()), node))
        if node.decorator_list:
            made = self.plain_call(Events.define_class, node, made, ast.Constant(node.lineno))
        return [place(ast.Expr(made), node)]

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        return [*(note for name in names for note in self._binds(name, node)), node]

    visit_Import = visit_ImportFrom = _visit_import  # noqa: N815

    def _binds(self, name: str, node: ast.stmt) -> list[ast.stmt]:
        """Show that a definition or an import is about to bind a name that is watched."""
        if self.sort_of(name) != "global":
            return []
        target = place(ast.Name(name, ast.Store()), node)
        value = self.before_binding(target, place(ast.Constant(None), node))
        return [place(ast.Expr(value), node)]

    def generic_visit(self, node: ast.AST) -> Any:
        """Statements that only hold others."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, field, self._visit_list(value))
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def _visit_list(self, values: list[Any]) -> list[Any]:
        visited: list[Any] = []
        for value in values:
            result = self.visit(value) if isinstance(value, ast.AST) else value
            visited.extend(result if isinstance(result, list) else [result])
        return visited


def _decorates(decorator: ast.expr, *names: str) -> bool:
    """Whether a decorator is one of these, as far as names tell."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else None
    if isinstance(decorator, ast.Name):
        name = decorator.id
    return name in names
