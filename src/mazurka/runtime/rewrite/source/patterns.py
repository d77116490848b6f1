"""Rewrites `match` and `except ... as`, which bind names in ways of their own.

What patterns ask for is read at once, before the first of them.  A name that they bind and that
threads may share is bound by an assignment instead, as the first thing that happens afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.source.expressions import Expressions
from mazurka.runtime.rewrite.source.nodes import place

_PREFIX: Final = "_mazurka_"
_TAKES_APART: Final = (ast.MatchClass, ast.MatchMapping, ast.MatchSequence)


class Patterns(Expressions):
    """Rewrites statements that have patterns or bind exceptions."""

    # -- match -------------------------------------------------------------------------------

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        patterns = [part for case in node.cases for part in ast.walk(case.pattern)]
        before = list(self._report_constants(patterns))
        subject = self.rewrite(node.subject)
        if any(isinstance(part, _TAKES_APART) for part in patterns):
            named = {name for part in patterns for name in getattr(part, "kwd_attrs", ())}
            attributes = [self.name_constant(name) for name in sorted(named)]
            by_place = any(isinstance(part, ast.MatchClass) and part.patterns for part in patterns)
            asked = ast.Tuple(list(attributes), ast.Load())
            constants = (asked, ast.Constant(by_place))
            node.subject = self.call(Events.match_pattern, node.subject, subject, *constants)
        else:
            node.subject = self.call(Events.read_whole, node.subject, subject)
        for case in node.cases:
            self._visit_case(case)
        return [*before, node]

    def _report_constants(self, patterns: Iterable[ast.AST]) -> Iterator[ast.stmt]:
        """Report that `case variable.name:` reads an attribute, which it does without an event."""
        for pattern in patterns:
            match pattern:
                case ast.MatchValue(value=ast.Attribute(value=ast.Name() as variable)):
                    capture = self.capture(variable)
                    call = self.call_without_site(Events.match_attribute, pattern, capture)
                    yield place(ast.Expr(call), pattern)

    def _visit_case(self, case: ast.match_case) -> None:
        renamed = self._rename(case.pattern)
        guard = None if case.guard is None else self.test_truth(case.guard)
        case.body = self.rewrite_body(case.body)
        if guard is None:
            case.body[:0] = [self._bind(name, case.body[0]) for name in renamed]
        elif renamed:
            pairs = [self._bind(name, guard) for name in renamed]
            bound = [ast.NamedExpr(pair.targets[0], pair.value) for pair in pairs]  # type: ignore[arg-type]
            case.guard = place(
                ast.BoolOp(ast.And(), [ast.List(list(bound), ast.Load()), guard]), guard
            )
        else:
            case.guard = guard

    def _rename(self, pattern: ast.pattern) -> list[str]:
        """Give other names to variables that are observed; return the old ones."""
        renamed: dict[str, None] = {}
        for part in ast.walk(pattern):
            field = "rest" if isinstance(part, ast.MatchMapping) else "name"
            name = getattr(part, field, None)
            if isinstance(name, str) and self.sharing_of(name):
                renamed[name] = None
                setattr(part, field, _PREFIX + name)
        return list(renamed)

    def _bind(self, name: str, node: ast.AST) -> ast.Assign:
        target = place(ast.Name(name, ast.Store()), node)
        value = place(ast.Name(_PREFIX + name, ast.Load()), node)
        return place(ast.Assign([target], self.report_binding(target, value)), node)

    # -- exceptions --------------------------------------------------------------------------

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.rewrite(node.type)
        node.body = self.rewrite_body(node.body)
        if node.name is None or not self.sharing_of(node.name):
            return node
        name, node.name = node.name, _PREFIX + node.name
        end = node.body[-1]
        unset = place(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)), end)
        drop = place(ast.Delete([ast.Name(name, ast.Del())]), end)
        finally_ = self.rewrite_body([unset, drop])
        node.body = [
            self._bind(name, node.body[0]),
            place(ast.Try(node.body, [], [], finally_), node.body[0]),
        ]
        return node
