"""Rewrites expressions: names, attributes, calls, operators, displays, comprehensions.

Calls of events are built here, too, at the places of what they stand for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, TypeVar

from mazurka.runtime.core.sites import MARK, Place
from mazurka.runtime.python.events import Events
from mazurka.runtime.python.library.call_stack import LEADING
from mazurka.runtime.rewrite.source.scopes import Scope, ScopeFinder, mangle

SITE: Final = "\0mazurka site "
"""Begins the constant that stands for a site until its number is known (`relocation`)."""
_PLACE: Final = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_LOAD: Final = ast.Load()
Event: TypeAlias = Callable[..., Any]
"""One of `Events`; its name is what rewritten code calls."""
Placed = TypeVar("Placed", bound=ast.AST)
_CALLERS_FRAME: Final = frozenset(
    {"super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__", "breakpoint"}
)
"""Functions that look at the frame of their caller."""


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


class Expressions(ast.NodeTransformer):
    """Knows where in a module it is, and rewrites expressions."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.file = file
        self.places: list[Place] = []
        """The sites of the module, by their numbers among them."""
        finder = ScopeFinder(tree)
        self.scopes = finder.scopes
        self.annotates = finder.annotates
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
        self.places.append((line, column, *end, event.__name__))
        return ast.Constant(f"{SITE}{len(self.places) - 1}")

    def receive(self, node: ast.expr) -> ast.expr:
        """Report the value of an expression, which may be new."""
        return self.call_without_site(Events.receive, node, node)

    def name_constant(self, name: str) -> ast.Constant:
        return ast.Constant(mangle(name, self.class_name))

    # -- names -------------------------------------------------------------------------------

    def sharing_of(self, name: str) -> Literal["global", "captured"] | None:
        """As what the variable with this name is observed here; None if it is not."""
        scope: Scope | None = None if name == "__class__" else self.scope
        while scope is not None and scope.kind in ("comprehension", "generator", "class"):
            scope = scope.parent
        if scope is None or scope.kind != "function":
            return None
        name = mangle(name, self.class_name)
        owner = self.scope.owner(name)
        if owner is None:
            return None
        if owner.kind == "module":
            return "global" if owner.is_shared_global(name) else None
        if owner.is_captured_here(name):
            is_captured = owner is not self.scope and self._is_inside_function(owner)
        else:
            is_captured = owner.is_shared_cell(name)
        return "captured" if is_captured else None

    def _is_inside_function(self, outer: Scope) -> bool:
        """Whether this is inside of a function that is inside of a scope."""
        scope: Scope | None = self.scope
        while scope is not None and scope is not outer:
            if scope.kind == "function":
                return True
            scope = scope.parent
        return False

    def capture(self, node: ast.Name) -> ast.Lambda:
        """`lambda: name`, whose only cell is the variable."""
        nothing = ast.arguments([], [], None, [], [], None, [])
        return place(ast.Lambda(nothing, ast.Name(node.id, ast.Load())), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        match self.sharing_of(node.id):
            case "global":
                before = self.call(Events.read_global, node, self.name_constant(node.id))
            case "captured":
                before = self.call(Events.read_captured, node, self.capture(node))
            case None:
                return node
        # The event returns None, and the name is read as it always was.
        return place(ast.BoolOp(ast.Or(), [before, node]), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.report_binding(node.target, self.rewrite(node.value))
        return node

    def report_binding(self, target: ast.Name, value: ast.expr) -> ast.expr:
        """Report the value of an assignment to a name before it is bound."""
        match self.sharing_of(target.id):
            case "global":
                name = self.name_constant(target.id)
                return self.call(Events.write_global, target, value, name)
            case "captured":
                return self.call(Events.write_captured, target, value, self.capture(target))
        return value

    # -- attributes and subscripts -----------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "__dict__":
            return self.call(Events.read_dict, node, self.rewrite(node.value))
        event = Events.follow_frames if node.attr in LEADING else Events.read_attribute
        return self.call(event, node, *self.operands(node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_slice = isinstance(node.slice, ast.Slice)
        read = self.call(Events.read_item, node, *self.operands(node))
        return self.receive(read) if is_slice else read

    def operands(self, node: ast.Attribute | ast.Subscript) -> tuple[ast.expr, ast.expr]:
        """The object that an access goes to, and the name or key that it asks for."""
        thing = self.rewrite(node.value)
        if isinstance(node, ast.Attribute):
            return thing, self.name_constant(node.attr)
        return thing, self._key(node.slice)

    def _key(self, node: ast.expr) -> ast.expr:
        """What stands between brackets, as an expression of its own."""
        if isinstance(node, ast.Slice):
            bounds = (node.lower, node.upper, node.step)
            parts = [self.rewrite(part) if part else ast.Constant(None) for part in bounds]
            return self.call_without_site(Events.slice, node, *parts)
        if isinstance(node, ast.Tuple):
            node.elts = [self._key(element) for element in node.elts]
            return node
        return self.rewrite(node)

    # -- calls -------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self.receive(self.rewrite_call(node))

    def rewrite_call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call whose result need not be reported."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in _CALLERS_FRAME:
            return self._rewrite_frame_call(node, function)
        if isinstance(function, ast.Attribute):
            node.func = self.call(Events.call_method, function, *self.operands(function))
        else:
            node.func = self.call(Events.call, function, self.rewrite(function))
        return self._rewrite_arguments(node)

    def _rewrite_arguments(self, node: ast.Call) -> ast.Call:
        """Rewrite arguments.  Of a list of arguments with stars, the interpreter makes a tuple
        before it comes to those by name, unless a starred one is alone."""
        first = node.args[0] if len(node.args) == 1 else None
        if isinstance(first, ast.Starred) and node.keywords:
            first.value = self.call(Events.unpack_later, first.value, self.rewrite(first.value))
        else:
            node.args = [self.rewrite(argument) for argument in node.args]
        for keyword in node.keywords:
            value = self.rewrite(keyword.value)
            keyword.value = (
                value if keyword.arg else self.call(Events.read_whole, keyword.value, value)
            )
        return node

    def _rewrite_frame_call(self, node: ast.Call, function: ast.Name) -> ast.expr:
        """Rewrite a call of a function that looks at the frame of its caller.

        It has to be called there; what can be reached through its result is another matter.
        """
        name, given = function.id, len(node.args)
        if name in ("vars", "dir") and given:
            node.func = self.call(Events.call, function, self.rewrite(function))
        self._rewrite_arguments(node)
        if name in ("exec", "eval") and given:
            first, what = node.args[0], ast.Constant(name)
            if isinstance(first, ast.Starred):
                first.value = self.call_without_site(
                    Events.leave_unobserved, first, first.value, what
                )
            else:
                node.args[0] = self.call_without_site(Events.run_code, first, first, what)
        elif name == "globals":
            return self.call_without_site(Events.show_globals, node, node)
        elif name in ("locals", "vars", "dir") and not given and self.scope.is_function:
            shown = self.call_without_site(Events.hide_names, node, node)
            if name == "dir" or not self.scope.has_shared_cells():
                return shown
            what = ast.Constant(f"{name}()")
            return self.call_without_site(Events.leave_unobserved, node, shown, what)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = self.call(Events.unpack, node.value, self.rewrite(node.value))
        return node

    # -- operators ---------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.rewrite(node.left), self.rewrite(node.right)
        if not (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)):
            sign = ast.Constant(type(node.op).__name__)
            return self.call(Events.apply_operator, node, left, right, sign)
        node.left, node.right = left, right
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if _may_read_containers(node):
            left, right = self.rewrite(node.left), self.rewrite(node.comparators[0])
            sign = ast.Constant(type(node.ops[0]).__name__)
            return self.call(Events.apply_operator, node, left, right, sign)
        if _compares_identities(node):
            left, right = self.rewrite(node.left), self.rewrite(node.comparators[0])
            same = self.call_without_site(Events.is_same, node, left, right)
            is_negated = isinstance(node.ops[0], ast.IsNot)
            return place(ast.UnaryOp(ast.Not(), same), node) if is_negated else same
        node.left = self._rewrite_operand(node.left, len(node.ops))
        last = node.comparators.pop()
        node.comparators = [self._rewrite_operand(part, len(node.ops)) for part in node.comparators]
        if isinstance(node.ops[-1], (ast.In, ast.NotIn)):
            node.comparators.append(self.call(Events.search_in, last, self.rewrite(last)))
        else:
            node.comparators.append(self._rewrite_operand(last, len(node.ops)))
        return node

    def _rewrite_operand(self, node: ast.expr, count: int) -> ast.expr:
        visited = self.rewrite(node)
        return visited if count == 1 else self.call(Events.read_compared, node, visited)

    def test_truth(self, node: ast.expr, event: Any = Events.test_truth) -> ast.expr:
        """Rewrite an expression whose truth is asked for; `event` also tells what it gives."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.test_truth(value, event) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.test_truth(node.operand)
            return node
        visited = self.rewrite(node)
        if isinstance(node, (ast.Compare, ast.Constant)):
            return visited
        return self.call(event, node, visited)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        last = self.rewrite(node.values[-1])
        tested = (self.test_truth(value, Events.test_operand) for value in node.values[:-1])
        node.values = [*tested, last]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self.test_truth(node)
        visited = self.rewrite(node.operand)
        if not isinstance(node.operand, ast.Constant):
            visited = self.call(Events.read_operand, node, visited)
        node.operand = visited
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.test_truth(node.test)
        node.body, node.orelse = self.rewrite(node.body), self.rewrite(node.orelse)
        return node

    # -- displays, strings, comprehensions ---------------------------------------------------

    def visit_List(self, node: ast.List) -> ast.expr:
        node.elts = [self.rewrite(element) for element in node.elts]
        return self.receive(node)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        for number, element in enumerate(node.elts):
            if isinstance(element, ast.Starred):
                value = self.rewrite(element.value)
                element.value = self.call(Events.unpack_into_set, element.value, value)
            else:
                node.elts[number] = self.rewrite(element)
        return self.receive(node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(None if key is None else self.rewrite(key))
            visited = self.rewrite(value)
            values.append(self.call(Events.read_whole, value, visited) if key is None else visited)
        node.keys, node.values = keys, values
        return self.receive(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        value, form = self.rewrite(node.value), node.format_spec
        if form is not None and self._is_read_after(node, form):
            sign = ast.Constant(node.conversion)
            node.value = self.call(Events.format_with, node, value, sign, self.rewrite(form))
            node.conversion, node.format_spec = -1, None
            return node
        node.value = self.call(Events.format_value, node.value, value)
        if form is not None:
            node.format_spec = self.rewrite(form)
        return node

    def _is_read_after(self, node: ast.FormattedValue, form: ast.expr) -> bool:
        """Whether a value is read after code has run that finds out how to write it.  From Python
        3.13 on, `!r` comes first."""
        runs = any(isinstance(part, ast.FormattedValue) for part in ast.walk(form))
        return runs and (node.conversion < 0 or sys.version_info < (3, 13))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self.call(Events.delegate, node.value, self.rewrite(node.value))
        return node

    def iterate(
        self, iterated: ast.expr, target: ast.expr, event: Event = Events.iterate
    ) -> ast.expr:
        unpacked = ast.Constant(unpacking_depth(target))
        return self.call(event, iterated, self.rewrite(iterated), unpacked)

    def iterate_async(self, iterated: ast.expr, target: ast.expr) -> ast.expr:
        """Rewrite what an asynchronous loop goes through, which takes its elements apart."""
        depth = unpacking_depth(target)
        if not depth:
            return self.rewrite(iterated)
        unpacked = ast.Constant(depth)
        return self.call(Events.iterate_async, iterated, self.rewrite(iterated), unpacked)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.rewrite_defaults(node.args)
        outer, self.scope = self.scope, self.scopes[node]
        node.body = self.rewrite(node.body)
        self.scope = outer
        return node

    def rewrite_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.rewrite(default) for default in arguments.defaults]
        arguments.kw_defaults = [
            None if default is None else self.rewrite(default) for default in arguments.kw_defaults
        ]

    def _visit_comprehension(self, node: ast.expr) -> ast.expr:
        """The first iterable is evaluated outside of the comprehension, the others inside."""
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        first = generators[0]
        is_lazy = isinstance(node, ast.GeneratorExp)
        if first.is_async:
            first.iter = self.iterate_async(first.iter, first.target)
        else:
            event = Events.iterate_lazily if is_lazy else Events.iterate
            first.iter = self.iterate(first.iter, first.target, event)
        outer, self.scope = self.scope, self.scopes[node]
        for generator in generators:
            if generator.is_async:
                if generator is not first:
                    generator.iter = self.iterate_async(generator.iter, generator.target)
            else:
                if generator is not first:
                    generator.iter = self.iterate(generator.iter, generator.target)
                if self._captured_in(generator):
                    target = generator.target
                    generator.iter = self.call(Events.iterate_captured, target, generator.iter)
            generator.ifs = [self.test_truth(test) for test in generator.ifs]
            if not generator.is_async and (captured := self._captured_in(generator)):
                looks = [self.capture(name) for name in captured]
                bind = self.call_without_site(Events.bind_captured, generator.target, *looks)
                generator.ifs.insert(0, bind)
        self._rewrite_elements(node)
        self.scope = outer
        return self.receive(node)

    def _rewrite_elements(self, node: Any) -> None:
        """Rewrite what a comprehension makes; from Python 3.15 on, `[*v for v in a]` unpacks."""
        if not isinstance(node, ast.DictComp):
            starred = node.elt if isinstance(node.elt, ast.Starred) else None
            if starred is not None and isinstance(node, ast.GeneratorExp):
                value = starred.value
                starred.value = self.call(Events.delegate, value, self.rewrite(value))
            else:
                node.elt = self.rewrite(node.elt)
        elif node.value is None:
            node.key = self.call(Events.read_whole, node.key, self.rewrite(node.key))
        else:
            node.key, node.value = self.rewrite(node.key), self.rewrite(node.value)

    def _captured_in(self, generator: ast.comprehension) -> list[ast.Name]:
        """Variables of the present comprehension that functions inside capture."""
        parts = [part for part in ast.walk(generator.target) if isinstance(part, ast.Name)]
        return [part for part in parts if self.scope.is_captured_here(part.id)]

    visit_ListComp = visit_SetComp = visit_DictComp = _visit_comprehension
    visit_GeneratorExp = _visit_comprehension


def unpacking_depth(target: ast.expr) -> int:
    """How deep a target takes a value apart: 1 for `a, b`, 2 for `a, (b, c)` and deeper ones."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return 0
    parts = [part.value if isinstance(part, ast.Starred) else part for part in target.elts]
    return 2 if any(isinstance(part, (ast.Tuple, ast.List)) for part in parts) else 1


def _compares_identities(node: ast.Compare) -> bool:
    """Whether `left is right` compares objects of which neither is a constant or a class that
    `type(thing)` gives."""
    operands = (node.left, *node.comparators)
    return len(node.ops) == 1 and not any(
        isinstance(operand, ast.Constant)
        or (
            isinstance(operand, ast.Call)
            and isinstance(operand.func, ast.Name)
            and operand.func.id == "type"
        )
        for operand in operands
    )


def _may_read_containers(node: ast.Compare) -> bool:
    return len(node.ops) == 1 and not isinstance(node.ops[0], (ast.Is, ast.IsNot))
