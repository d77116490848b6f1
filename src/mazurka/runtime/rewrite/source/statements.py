"""Rewrites whole modules, from source to code objects: control and definitions."""

from __future__ import annotations

import ast
from types import CodeType

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.source.assignments import Assignments
from mazurka.runtime.rewrite.source.nodes import place
from mazurka.runtime.rewrite.source.patterns import Patterns


def compile_observed(source: str | bytes, file: str) -> CodeType:
    """Compile the source of a module to code that reports its accesses."""
    return compile_tree(ast.parse(source, file), file)


def compile_tree(tree: ast.Module, file: str) -> CodeType:
    """Compile a module that has been parsed to code that reports its accesses."""
    rewritten = Statements(tree, file).visit(tree)
    return compile(rewritten, file, "exec", dont_inherit=True)


class Statements(Assignments, Patterns):
    """Rewrites the statements of a module, and all that is in them."""

    # -- control -----------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Call):
            node.value = self.rewrite_call(node.value)
        elif not isinstance(node.value, ast.Constant):
            node.value = self.rewrite(node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter = self.iterate(node.iter, node.target)
        node.target = self.rewrite_target(node.target)
        return self._rewrite_branches(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        node.iter, node.target = self.rewrite(node.iter), self.rewrite_target(node.target)
        return self._rewrite_branches(node)

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.test_truth(node.test)
        return self._rewrite_branches(node)

    def visit_While(self, node: ast.While) -> ast.stmt:
        """Each round reports that it begins, in functions."""
        node.test = self.test_truth(node.test)
        self._rewrite_branches(node)
        if self.scope.is_function:
            begin = self.call(Events.begin_round, node.test)
            node.body.insert(0, place(ast.Expr(begin), node.test))
        return node

    def _rewrite_branches(self, node: ast.For | ast.AsyncFor | ast.If | ast.While) -> ast.stmt:
        node.body, node.orelse = self.rewrite_body(node.body), self.rewrite_body(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """A comparison that fails says what was compared."""
        test = node.test
        message = None if node.msg is None else self.rewrite(node.msg)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and message is None:
            left, right = self.rewrite(test.left), self.rewrite(test.comparators[0])
            sign = ast.Constant(type(test.ops[0]).__name__)
            node.test = call = self.call(Events.assert_comparison, test, left, right, sign)
            site = call.args[-1]
            assert isinstance(site, ast.Constant)
            explanation = ast.Constant(site.value)
            node.msg = self.call_without_site(Events.explain_assertion, test, explanation)
        else:
            node.test, node.msg = self.test_truth(test), message
        return node

    def _visit_with(self, node: ast.With | ast.AsyncWith) -> ast.stmt:
        for part in node.items:
            part.context_expr = self.rewrite(part.context_expr)
            if part.optional_vars is not None:
                part.optional_vars = self.rewrite_target(part.optional_vars)
        node.body = self.rewrite_body(node.body)
        return node

    visit_With = visit_AsyncWith = _visit_with

    # -- definitions -------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        has_cache = any(map(_is_cache, node.decorator_list))
        node.decorator_list = [self.rewrite(each) for each in node.decorator_list]
        self.rewrite_defaults(node.args)
        outer, self.scope = self.scope, self.scopes[node]
        unbound, self.unbound = self.unbound, []
        node.body = self.rewrite_body(node.body)
        if has_cache:
            self._report_filling(node)
        for name in dict.fromkeys(self.unbound):
            binding = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
            never = ast.If(ast.Constant(False), [binding], [])
            node.body.append(place(never, node.body[-1]))
        self.scope, self.unbound = outer, unbound
        return [*self._report_definition(node.name, node), node]

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _report_filling(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Report at its end that what a function returns goes into a cache next."""
        filling = place(ast.Expr(self.call(Events.fill_cache, node)), node.body[-1])
        whole = place(ast.Try(node.body, [], [], [filling]), node.body[0])
        documented = ast.get_docstring(node, clean=False) is not None
        if documented:
            whole.body = node.body[1:] or [place(ast.Pass(), node.body[0])]
        node.body = [node.body[0], whole] if documented else [whole]

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        before = self._report_definition(node.name, node)
        node.decorator_list = [self.rewrite(each) for each in node.decorator_list]
        node.bases = [self.rewrite(base) for base in node.bases]
        for keyword in node.keywords:
            keyword.value = self.rewrite(keyword.value)
        outer, self.scope = self.scope, self.scopes[node]
        outer_class, self.class_name = self.class_name, node.name
        node.body = self.rewrite_body(node.body)
        self.scope, self.class_name = outer, outer_class
        return [*before, node, *(self._report_class(node) if outer.kind == "function" else ())]

    def _report_class(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Report a class that is a new one whenever its function is called: its maker names it."""
        made = self.receive(place(ast.Name(node.name, ast.Load()), node))
        if node.decorator_list:
            line = ast.Constant(node.lineno)
            made = self.call_without_site(Events.define_class, node, made, line)
        return [place(ast.Expr(made), node)]

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        return [*(note for name in names for note in self._report_definition(name, node)), node]

    visit_Import = visit_ImportFrom = _visit_import

    def _report_definition(self, name: str, node: ast.stmt) -> list[ast.stmt]:
        """Report that a definition or an import is about to bind a global that is observed."""
        if self.sharing_of(name) != "global":
            return []
        target = place(ast.Name(name, ast.Store()), node)
        value = self.report_binding(target, place(ast.Constant(None), node))
        return [place(ast.Expr(value), node)]


def _is_cache(decorator: ast.expr) -> bool:
    """Whether a decorator is one of `functools` that keep results, as far as names tell."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else None
    if isinstance(decorator, ast.Name):
        name = decorator.id
    return name in ("lru_cache", "cache")
