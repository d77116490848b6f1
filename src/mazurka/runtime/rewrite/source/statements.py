"""Rewrites whole modules, from source to code objects: assignments, patterns, control, definitions.

An assignment to one attribute or subscript becomes a call.  Where a target is one of several, or
belongs to a loop or `with`, it becomes the attribute `value` of an object that performs the
assignment when this attribute is set; so each target is evaluated exactly when it would be.

What the patterns of `match` ask for is read at once, before the first of them.  A name that they or
`except ... as` bind and that threads may share is bound by an assignment instead, as the first
thing that happens afterwards.  The names that take their place begin with `PREFIX`; only functions
have them, and `locals()` does not show them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Final, NamedTuple

from mazurka.runtime.core.sites import PREFIX, Place
from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.source.expressions import Event, Expressions, place, unpacking_depth
from mazurka.runtime.rewrite.source.nodes import require_known
from mazurka.runtime.rewrite.source.relocation import relocate
from mazurka.runtime.rewrite.source.scopes import ANNOTATES_LATER, annotations_of, mangle

_TAKES_APART: Final = (ast.MatchClass, ast.MatchMapping, ast.MatchSequence)


class _TargetEvents(NamedTuple):
    """What is reported of an attribute, or of an element of a container."""

    write: Event
    target: Event
    hold: Event
    augment: Event
    delete: Event


_EVENTS: Final[dict[type[ast.expr], _TargetEvents]] = {
    ast.Attribute: _TargetEvents(
        *(Events.write_attribute, Events.attribute_target, Events.hold_attribute),
        *(Events.augment_attribute, Events.delete_attribute),
    ),
    ast.Subscript: _TargetEvents(
        *(Events.write_item, Events.item_target, Events.hold_item),
        *(Events.augment_item, Events.delete_item),
    ),
}


def compile_observed(source: str | bytes, file: str) -> CodeType:
    """Compile the source of a module to code that reports its accesses."""
    return compile_tree(ast.parse(source, file), file)


def compile_tree(tree: ast.Module, file: str) -> CodeType:
    """Compile a module that has been parsed to code that reports its accesses."""
    return relocate(*rewrite_tree(tree, file))


def rewrite_tree(tree: ast.Module, file: str) -> tuple[CodeType, list[Place]]:
    """Compile a parsed module to code whose sites have no numbers yet; return the sites, too."""
    require_known(tree)
    statements = Statements(tree, file)
    rewritten = statements.visit(tree)
    return compile(rewritten, file, "exec", dont_inherit=True), statements.places


class Statements(Expressions):
    """Rewrites the statements of a module, and all that is in them."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        super().__init__(tree, file)
        self.unbound: list[str] = []
        """Names of the present function that only targets with a `value` bind."""

    # -- assignments -------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        value = self.rewrite(node.value)
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                event = _EVENTS[type(target)].write
                call = self.call(event, target, value, *self.operands(target))
                return place(ast.Expr(call), node)
            if isinstance(target, ast.Name):
                node.value = self.report_binding(target, value)
                return node
        unpacking = [isinstance(target, (ast.Tuple, ast.List)) for target in node.targets]
        if any(unpacking):
            event = Events.unpack_to_targets if all(unpacking) else Events.unpack_bound
            value = self.call(event, node.value, value)
            if any(unpacking_depth(target) > 1 for target in node.targets):
                value = self.call(Events.read_nested, node.value, value)
        node.value = value
        node.targets = [self.rewrite_target(target) for target in node.targets]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node in self.scopes:
            self._rewrite_annotations(node, [(node, "annotation")])
        elif self.annotates and not ANNOTATES_LATER and self.scope.kind == "class":
            node.annotation = self.rewrite(node.annotation)  # in functions, it is not evaluated
        if node.value is None:
            return node
        node.value = self.rewrite(node.value)
        if isinstance(node.target, ast.Name):
            node.value = self.report_binding(node.target, node.value)
        else:
            node.target = self.rewrite_target(node.target)  # type: ignore[assignment]
        return node

    # -- targets -----------------------------------------------------------------------------

    def rewrite_target(self, node: ast.expr) -> ast.expr:
        """Rewrite a target that is not alone."""
        if isinstance(node, (ast.Tuple, ast.List)):
            node.elts = [self.rewrite_target(element) for element in node.elts]
            return node
        if isinstance(node, ast.Starred):
            node.value = self.rewrite_target(node.value)
            return node
        target = self._target_object(node)
        return node if target is None else place(ast.Attribute(target, "value", ast.Store()), node)

    def _target_object(self, node: ast.expr) -> ast.expr | None:
        """An expression for the object that performs the assignment; None where none is needed."""
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.call(_EVENTS[type(node)].target, node, *self.operands(node))
        if isinstance(node, ast.Name):
            match self.sharing_of(node.id):
                case "global":
                    return self.call(Events.global_target, node, self.name_constant(node.id))
                case "captured":
                    self._keep_bound(node.id)
                    return self.call(Events.captured_target, node, self.capture(node))
        return None

    def _keep_bound(self, name: str) -> None:
        """Let a name that its function binds no more remain a variable of that function."""
        if mangle(name, self.class_name) in self.scope.bound:
            self.unbound.append(name)

    # -- augmented assignments, deletions ----------------------------------------------------

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target, sign = node.target, ast.Constant(type(node.op).__name__)
        if isinstance(target, ast.Name):
            return self._augment_name(node, target, sign)
        events = _EVENTS[type(target)]
        held = self.call(events.hold, target, *self.operands(target))
        call = self.call(events.augment, node, held, self.rewrite(node.value), sign)
        return place(ast.Expr(call), node)

    def _augment_name(self, node: ast.AugAssign, target: ast.Name, sign: ast.Constant) -> ast.stmt:
        old = self.visit_Name(place(ast.Name(target.id, ast.Load()), target))
        is_shared = self.sharing_of(target.id) is not None
        is_literal = self.scope.is_literal(mangle(target.id, self.class_name))
        if not is_shared and (is_literal or self.scope.kind == "class"):
            node.value = self.rewrite(node.value)
            return node
        new: ast.expr = self.call(Events.augment, node, old, self.rewrite(node.value), sign)
        return place(ast.Assign([target], self.report_binding(target, new)), node)

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        return [statement for target in node.targets for statement in self._delete(target)]

    def _delete(self, target: ast.expr) -> list[ast.stmt]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return [statement for part in target.elts for statement in self._delete(part)]
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            event = _EVENTS[type(target)].delete
            return [place(ast.Expr(self.call(event, target, *self.operands(target))), target)]
        assert isinstance(target, ast.Name)
        deletion = place(ast.Delete([target]), target)
        match self.sharing_of(target.id):
            case "global":
                call = self.call(Events.delete_global, target, self.name_constant(target.id))
                return [place(ast.Expr(call), target)]
            case "captured":
                before = self.report_binding(target, place(ast.Constant(None), target))
                return [place(ast.Expr(before), target), deletion]
        return [deletion]

    # -- match, except -----------------------------------------------------------------------

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
        """Report that a pattern reads an attribute without an event: one of several alternatives
        that are no values, the key of a mapping, or any outside of functions, where a name that a
        pattern binds can be seen by others."""
        for pattern in patterns:
            values: list[ast.expr] = []
            if isinstance(pattern, ast.MatchMapping):
                values = pattern.keys
            elif isinstance(pattern, ast.MatchValue) and not self.scope.is_function:
                values = [pattern.value]
            elif isinstance(pattern, ast.MatchOr) and not _are_values(pattern):
                parts = (part for each in pattern.patterns for part in ast.walk(each))
                values = [part.value for part in parts if isinstance(part, ast.MatchValue)]
            for value in values:
                if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
                    capture = self.capture(value.value)
                    call = self.call_without_site(Events.match_attribute, pattern, capture)
                    yield place(ast.Expr(call), pattern)

    def _visit_case(self, case: ast.match_case) -> None:
        tests: list[ast.expr] = []
        if self.scope.is_function:
            case.pattern = self._test_values(case.pattern, tests)
        renamed = self._rename(case.pattern, late=bool(tests))
        guard = None if case.guard is None else self.test_truth(case.guard)
        case.body = self.rewrite_body(case.body)
        if guard is None:
            case.body[:0] = [self._bind(name, case.body[0]) for name in renamed]
        elif renamed:
            pairs = [self._bind(name, guard) for name in renamed]
            bound = [ast.NamedExpr(pair.targets[0], pair.value) for pair in pairs]  # type: ignore[arg-type]
            tests.append(place(ast.List(list(bound), ast.Load()), guard))
        if guard is not None:
            tests.append(guard)
        if tests:
            whole = place(ast.BoolOp(ast.And(), tests), tests[0])
            case.guard = whole if len(tests) > 1 else tests[0]

    def _test_values(self, pattern: ast.pattern, tests: list[ast.expr]) -> ast.pattern:
        """Let a guard compare with the attributes in a pattern, such as `case color.red:`: what the
        guard reads is observed.  It is evaluated when the rest of the pattern has matched."""
        if _are_values(pattern):
            return self._test_value(pattern, tests)
        match pattern:
            case ast.MatchSequence() | ast.MatchMapping():
                pattern.patterns = [self._test_values(one, tests) for one in pattern.patterns]
            case ast.MatchClass():
                pattern.patterns = [self._test_values(one, tests) for one in pattern.patterns]
                named = pattern.kwd_patterns
                pattern.kwd_patterns = [self._test_values(one, tests) for one in named]
            case ast.MatchAs(pattern=ast.pattern() as inner):
                pattern.pattern = self._test_values(inner, tests)
        return pattern

    def _test_value(self, pattern: ast.pattern, tests: list[ast.expr]) -> ast.pattern:
        name = f"{PREFIX}matched_{len(tests)}"
        choices = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        found: list[ast.expr] = []
        for choice in choices:
            assert isinstance(choice, ast.MatchValue)
            subject, value = ast.Name(name, ast.Load()), self.rewrite(choice.value)
            sign = ast.Constant("Eq")
            found.append(self.call(Events.apply_operator, choice, subject, value, sign))
        whole = place(ast.BoolOp(ast.Or(), found), pattern)
        tests.append(whole if len(found) > 1 else found[0])
        return place(ast.MatchAs(None, name), pattern)

    def _rename(self, pattern: ast.pattern, *, late: bool) -> list[str]:
        """Give other names to variables that are observed, and to all if tests of the guard decide
        whether the pattern matches (`late`); return the old ones."""
        renamed: dict[str, None] = {}
        for part in ast.walk(pattern):
            field = "rest" if isinstance(part, ast.MatchMapping) else "name"
            name = getattr(part, field, None)
            if not isinstance(name, str) or name.startswith(PREFIX):
                continue
            if late or self.sharing_of(name):
                renamed[name] = None
                setattr(part, field, PREFIX + name)
        return list(renamed)

    def _bind(self, name: str, node: ast.AST) -> ast.Assign:
        target = place(ast.Name(name, ast.Store()), node)
        value = place(ast.Name(PREFIX + name, ast.Load()), node)
        return place(ast.Assign([target], self.report_binding(target, value)), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.rewrite(node.type)
        node.body = self.rewrite_body(node.body)
        if node.name is None or not self.sharing_of(node.name):
            return node
        name, node.name = node.name, PREFIX + node.name
        end = node.body[-1]
        unset = place(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)), end)
        drop = place(ast.Delete([ast.Name(name, ast.Del())]), end)
        finally_ = self.rewrite_body([unset, drop])
        node.body = [
            self._bind(name, node.body[0]),
            place(ast.Try(node.body, [], [], finally_), node.body[0]),
        ]
        return node

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
        node.iter = self.iterate_async(node.iter, node.target)
        node.target = self.rewrite_target(node.target)
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
            manager = self.rewrite(part.context_expr)
            part.context_expr = self._manage(part, manager, isinstance(node, ast.AsyncWith))
            if part.optional_vars is not None:
                part.optional_vars = self.rewrite_target(part.optional_vars)
        node.body = self.rewrite_body(node.body)
        return node

    visit_With = visit_AsyncWith = _visit_with

    def _manage(self, part: ast.withitem, manager: ast.expr, is_async: bool) -> ast.expr:
        depth = 0 if part.optional_vars is None else unpacking_depth(part.optional_vars)
        if not depth:
            return manager if is_async else self.call(Events.manage, part.context_expr, manager)
        event = Events.manage_async if is_async else Events.manage_unpacked
        return self.call(event, part.context_expr, manager, ast.Constant(depth))

    # -- definitions -------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        has_cache = any(map(_is_cache, node.decorator_list))
        node.decorator_list = [self.rewrite(each) for each in node.decorator_list]
        self.rewrite_defaults(node.args)
        if self.annotates:
            self._rewrite_annotations(node.args, annotations_of(node))
        outer, self.scope = self.scope, self.scopes[node]
        unbound, self.unbound = self.unbound, []
        named = node.args.kwarg
        is_kept = named is not None and _is_kept(node, named.arg)
        node.body = self.rewrite_body(node.body)
        if named is not None and is_kept:
            self._report_named(node, named.arg)
        if has_cache:
            self._report_filling(node)
        for name in dict.fromkeys(self.unbound):
            binding = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
            never = ast.If(ast.Constant(False), [binding], [])
            node.body.append(place(never, node.body[-1]))
        self.scope, self.unbound = outer, unbound
        return [*self._report_definition(node.name, node), node]

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _rewrite_annotations(
        self, scope: ast.AST, annotations: Iterable[tuple[ast.AST, str]]
    ) -> None:
        outer, self.scope = self.scope, self.scopes.get(scope, self.scope)
        for part, name in annotations:
            annotation: ast.expr = getattr(part, name)
            plain = copy.deepcopy(annotation)
            rewritten = self.rewrite(annotation)
            if self.scope.is_annotation:
                rewritten = place(ast.IfExp(self._finds_values(plain), rewritten, plain), plain)
            setattr(part, name, rewritten)
        self.scope = outer

    def _finds_values(self, node: ast.expr) -> ast.expr:
        """Whether names have their values in the function that evaluates annotations.

        `annotationlib` also runs it with other objects in place of all names, and makes texts of
        what is done to these: then it has to be as the source says.  What is called here is such an
        object then, too.
        """
        answer = self.call_without_site(Events.has_values, node)
        return ast.Compare(answer, [ast.Is()], [ast.Constant(True)])

    def _report_named(self, node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> None:
        """Report the dictionary that the interpreter makes of arguments with names: whoever is
        called names it."""
        documented = ast.get_docstring(node, clean=False) is not None
        made = self.receive(place(ast.Name(name, ast.Load()), node.body[0]))
        node.body.insert(1 if documented else 0, place(ast.Expr(made), node.body[0]))

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
            value = self.rewrite(keyword.value)
            is_named = keyword.arg is not None
            keyword.value = value if is_named else self.call(Events.read_whole, value, value)
        outer, self.scope = self.scope, self.scopes[node]
        outer_class, self.class_name = self.class_name, node.name
        node.body = self.rewrite_body(node.body)
        self.scope, self.class_name = outer, outer_class
        return [*before, node, *(self._report_class(node) if outer.kind == "function" else ())]

    def _report_class(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Report a class that is a new one whenever its function is called: its maker names it."""
        kind = place(ast.Name(node.name, ast.Load()), node)
        made = self.call_without_site(Events.receive_class, node, kind)
        if node.decorator_list or any(map(_binds_special_name, node.body)):
            line = ast.Constant(node.lineno)
            made = self.call_without_site(Events.define_class, node, made, line)
        return [place(ast.Expr(made), node)]

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        return [*(note for name in names for note in self._report_definition(name, node)), node]

    visit_Import = _visit_import

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """Each name is an attribute of the module, which is read when it is imported."""
        if not self.scope.is_function or node.module == "__future__":
            return self._visit_import(node)
        rewritten: list[ast.stmt] = []
        for alias in node.names:
            given = (ast.Constant(node.module or ""), ast.Constant(node.level))
            name = ast.Constant(alias.name)
            read = self.call(Events.import_name, node, *given, name)
            one = place(ast.ImportFrom(node.module, [alias], node.level), node)
            rewritten += [place(ast.Expr(read), node), *self._visit_import(one)]
        return rewritten

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        """Raising an exception changes it, which may be one that others have."""
        if node.exc is not None:
            is_new = isinstance(node.exc, ast.Call)
            error = self.rewrite(node.exc)
            has_cause = ast.Constant(node.cause is not None)
            node.exc = error if is_new else self.call(Events.raise_error, node, error, has_cause)
        if node.cause is not None:
            node.cause = self.rewrite(node.cause)
        return node

    def _report_definition(self, name: str, node: ast.stmt) -> list[ast.stmt]:
        """Report that a definition or an import is about to bind a name that is observed."""
        if self.sharing_of(name) is None:
            return []
        target = place(ast.Name(name, ast.Store()), node)
        value = self.report_binding(target, place(ast.Constant(None), node))
        return [place(ast.Expr(value), node)]


def _is_kept(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a function does anything with its named arguments but pass them on and ask them."""
    own = {id(part) for statement in node.body for part in _walk_own(statement)}
    harmless = {
        id(value)
        for statement in node.body
        for part in ast.walk(statement)
        if id(part) in own and isinstance(value := _asked_value(part), ast.Name)
    }
    return any(
        isinstance(part, ast.Name) and part.id == name and id(part) not in harmless
        for statement in node.body
        for part in ast.walk(statement)
    )


def _walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Go through a statement, but not through functions and classes in it."""
    yield node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        for part in ast.iter_child_nodes(node):
            yield from _walk_own(part)


def _asked_value(node: ast.AST) -> ast.expr | None:
    """The value that an expression asks for an element or an attribute, or passes on by `**`."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return node.value
    return node.value if isinstance(node, ast.keyword) and node.arg is None else None


def _are_values(pattern: ast.pattern) -> bool:
    """Whether a pattern compares with values, of which some are attributes, and does nothing
    else."""
    choices = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    values = [choice.value for choice in choices if isinstance(choice, ast.MatchValue)]
    all_are = len(values) == len(choices)
    return all_are and any(isinstance(value, ast.Attribute) for value in values)


def _binds_special_name(statement: ast.stmt) -> bool:
    """Whether a statement in a class is an assignment to what may be a special method."""
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    names = (target.id for target in targets if isinstance(target, ast.Name))
    return any(name.startswith("__") and name.endswith("__") for name in names)


def _is_cache(decorator: ast.expr) -> bool:
    """Whether a decorator is one of `functools` that keep results, as far as names tell."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    name = decorator.attr if isinstance(decorator, ast.Attribute) else None
    if isinstance(decorator, ast.Name):
        name = decorator.id
    return name in ("lru_cache", "cache")
