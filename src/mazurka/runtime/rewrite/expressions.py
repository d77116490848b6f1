"""Rewrites expressions, so that they show what they touch; see `runtime.rewrite.source`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

from mazurka.runtime.core.access_sites import AccessSite, number_of
from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.scopes import Scope, Survey, mangled
from mazurka.runtime.sharing.monitoring import MARK

_CALLERS_FRAME: Final = frozenset(
    {"super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__", "breakpoint"}
)
_CONTAINER_SIGNS: Final = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.BitOr, ast.BitXor, ast.BitAnd),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
)
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


class Expressions(ast.NodeTransformer):
    """Rewrites expressions."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.file = file
        self.scopes = Survey(tree).scopes
        self.scope: Scope = self.scopes[tree]
        self.class_name: str | None = None

    # -- building ----------------------------------------------------------------------------

    def site(self, node: ast.AST, event: Event) -> ast.Constant:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end = (getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column))
        return ast.Constant(number_of(AccessSite(self.file, line, column, *end, event.__name__)))

    def call(self, event: Event, node: ast.AST, *arguments: ast.expr) -> ast.Call:
        """A call of an event, for a node, with the place as its last argument."""
        return self.plain_call(event, node, *arguments, self.site(node, event))

    def plain_call(self, event: Event, node: ast.AST, *arguments: ast.expr) -> ast.Call:
        watcher = ast.Name(MARK, _LOAD)
        function = ast.Attribute(watcher, event.__name__, _LOAD)
        call = ast.Call(function, list(arguments), [])
        where = {name: getattr(node, name) for name in _PLACE}
        for new in (call, function, watcher):
            new.__dict__.update(where)
        for argument in arguments:
            if "lineno" not in argument.__dict__:
                place(argument, node)
        return call

    def name_constant(self, name: str) -> ast.Constant:
        return ast.Constant(mangled(name, self.class_name))

    def expression(self, node: ast.expr) -> ast.expr:
        visited = self.visit(node)
        assert isinstance(visited, ast.expr)
        return visited

    def made(self, node: ast.expr) -> ast.expr:
        return self.plain_call(Events.receive, node, node)

    # -- names -------------------------------------------------------------------------------

    def sort_of(self, name: str) -> str:
        """Whether a name is watched here, and as what: `cell`, `global` or neither."""
        scope: Scope | None = None if name == "__class__" else self.scope
        while scope is not None and scope.kind in ("comprehension", "generator"):
            scope = scope.parent
        if scope is None or scope.kind != "function":
            return ""
        name = mangled(name, self.class_name)
        owner = self.scope.owner(name)
        if owner is None:
            return ""
        if owner.kind == "module":
            return "global" if owner.is_shared_global(name) else ""
        if owner.is_captured_here(name):
            return "cell" if owner is not self.scope and self.is_inside_function(owner) else ""
        return "cell" if owner.is_shared_cell(name) else ""

    def is_inside_function(self, outer: Scope) -> bool:
        """Whether this is inside of a function that is inside of a scope."""
        scope: Scope | None = self.scope
        while scope is not None and scope is not outer:
            if scope.kind == "function":
                return True
            scope = scope.parent
        return False

    def look(self, node: ast.Name) -> ast.Lambda:
        """`lambda: name`, whose only cell is the variable."""
        nothing = ast.arguments([], [], None, [], [], None, [])
        return place(ast.Lambda(nothing, ast.Name(node.id, ast.Load())), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        match self.sort_of(node.id):
            case "global":
                before = self.call(Events.read_global, node, self.name_constant(node.id))
            case "cell":
                before = self.call(Events.read_captured, node, self.look(node))
            case _:
                return node
        # It returns None, and the name is read as it always was.
        return place(ast.BoolOp(ast.Or(), [before, node]), node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.before_binding(node.target, self.expression(node.value))
        return node

    def before_binding(self, target: ast.Name, value: ast.expr) -> ast.expr:
        """The value of an assignment to a name, shown before it is bound."""
        match self.sort_of(target.id):
            case "global":
                name = self.name_constant(target.id)
                return self.call(Events.write_global, target, value, name)
            case "cell":
                return self.call(Events.write_captured, target, value, self.look(target))
        return value

    # -- attributes and subscripts -----------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.expression(node.value)
        if node.attr == "__dict__":
            return self.call(Events.read_dict, node, value)
        return self.call(Events.read_attribute, node, value, self.name_constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self.call(Events.read_item, node, self.expression(node.value), self.key(node.slice))

    def key(self, node: ast.expr) -> ast.expr:
        """What stands between brackets, as an expression of its own."""
        if isinstance(node, ast.Slice):
            parts = [self.expression(p) if p else ast.Constant(None) for p in _bounds(node)]
            return self.plain_call(Events.slice, node, *parts)
        if isinstance(node, ast.Tuple):
            node.elts = [self.key(element) for element in node.elts]
            return node
        return self.expression(node)

    # -- calls -------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self.made(self.called(node))

    def called(self, node: ast.Call) -> ast.expr:
        """A call whose result nobody needs to see."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in _CALLERS_FRAME:
            return self.asking_frame(node, function)
        if isinstance(function, ast.Attribute):
            value, name = self.expression(function.value), self.name_constant(function.attr)
            node.func = self.call(Events.call_method, function, value, name)
        else:
            node.func = self.call(Events.call, function, self.expression(function))
        return self.with_arguments(node)

    def with_arguments(self, node: ast.Call) -> ast.Call:
        node.args = [self.expression(argument) for argument in node.args]
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            keyword.value = (
                value if keyword.arg else self.call(Events.read_whole, keyword.value, value)
            )
        return node

    def asking_frame(self, node: ast.Call, function: ast.Name) -> ast.expr:
        """A call of a function that looks at the frame of its caller, and has to be called there;
        what can be reached through its result is another matter."""
        name, given = function.id, len(node.args)
        if name in ("vars", "dir") and given:
            node.func = self.call(Events.call, function, self.expression(function))
        self.with_arguments(node)
        if name in ("exec", "eval") and given:
            first, what = node.args[0], ast.Constant(name)
            if isinstance(first, ast.Starred):
                first.value = self.plain_call(Events.leave_unwatched, first, first.value, what)
            else:
                node.args[0] = self.plain_call(Events.run_code, first, first, what)
        elif name == "globals":
            return self.plain_call(Events.show_globals, node, node)
        elif name in ("locals", "vars") and not given and self.scope.has_shared_cells():
            return self.plain_call(Events.leave_unwatched, node, node, ast.Constant(f"{name}()"))
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = self.call(Events.unpack, node.value, self.expression(node.value))
        return node

    # -- operators ---------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, _CONTAINER_SIGNS) and not _is_arithmetic(node):
            sign = ast.Constant(type(node.op).__name__)
            return self.call(Events.apply_operator, node, left, right, sign)
        node.left, node.right = left, right
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if _may_read_containers(node):
            left, right = self.expression(node.left), self.expression(node.comparators[0])
            sign = ast.Constant(type(node.ops[0]).__name__)
            return self.call(Events.apply_operator, node, left, right, sign)
        node.left = self.operand(node.left, len(node.ops))
        last = node.comparators.pop()
        node.comparators = [self.operand(part, len(node.ops)) for part in node.comparators]
        if isinstance(node.ops[-1], (ast.In, ast.NotIn)):
            node.comparators.append(self.call(Events.search_in, last, self.expression(last)))
        else:
            node.comparators.append(self.operand(last, len(node.ops)))
        return node

    def operand(self, node: ast.expr, count: int) -> ast.expr:
        visited = self.expression(node)
        return visited if count == 1 else self.call(Events.read_whole, node, visited)

    def tested(self, node: ast.expr) -> ast.expr:
        """An expression whose truth is asked for."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.tested(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.tested(node.operand)
            return node
        visited = self.expression(node)
        if isinstance(node, (ast.Compare, ast.Constant)):
            return visited
        return self.call(Events.test_truth, node, visited)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        last = self.expression(node.values[-1])
        node.values = [*(self.tested(value) for value in node.values[:-1]), last]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self.tested(node)
        node.operand = self.expression(node.operand)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.tested(node.test)
        node.body, node.orelse = self.expression(node.body), self.expression(node.orelse)
        return node

    # -- displays, strings, comprehensions ---------------------------------------------------

    def _visit_display(self, node: ast.List | ast.Set) -> ast.expr:
        node.elts = [self.expression(element) for element in node.elts]
        return self.made(node)

    visit_List = visit_Set = _visit_display  # noqa: N815

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        pairs = zip(node.keys, node.values, strict=True)
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in pairs:
            keys.append(None if key is None else self.expression(key))
            visited = self.expression(value)
            values.append(self.call(Events.read_whole, value, visited) if key is None else visited)
        node.keys, node.values = keys, values
        return self.made(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self.call(Events.format_value, node.value, self.expression(node.value))
        if node.format_spec is not None:
            node.format_spec = self.expression(node.format_spec)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self.call(Events.delegate, node.value, self.expression(node.value))
        return node

    def steps(
        self, iterated: ast.expr, target: ast.expr, access: Event = Events.iterate
    ) -> ast.expr:
        unpacked = ast.Constant(isinstance(target, (ast.Tuple, ast.List)))
        return self.call(access, iterated, self.expression(iterated), unpacked)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node.args)
        outer, self.scope = self.scope, self.scopes[node]
        node.body = self.expression(node.body)
        self.scope = outer
        return node

    def defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.expression(default) for default in arguments.defaults]
        arguments.kw_defaults = [
            None if default is None else self.expression(default)
            for default in arguments.kw_defaults
        ]

    def _visit_comprehension(self, node: ast.expr) -> ast.expr:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        first = generators[0]
        is_lazy = isinstance(node, ast.GeneratorExp)
        event = Events.iterate_lazily if is_lazy else Events.iterate
        outer_iterated = (
            first.iter if first.is_async else self.steps(first.iter, first.target, event)
        )
        outer, self.scope = self.scope, self.scopes[node]
        if not first.is_async and self.captured_in(first):
            outer_iterated = self.call(Events.iterate_captured, first.target, outer_iterated)
        for index, generator in enumerate(generators):
            if index and not generator.is_async:
                generator.iter = self.steps(generator.iter, generator.target)
                if self.captured_in(generator):
                    generator.iter = self.call(
                        Events.iterate_captured, generator.target, generator.iter
                    )
            generator.ifs = [self.tested(test) for test in generator.ifs]
            if not generator.is_async and (captured := self.captured_in(generator)):
                looks = [self.look(place(ast.Name(name.id, ast.Load()), name)) for name in captured]
                generator.ifs.insert(
                    0, self.plain_call(Events.bind_captured, generator.target, *looks)
                )
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.expression(node.key), self.expression(node.value)
        else:
            node.elt = self.expression(node.elt)  # type: ignore[attr-defined]
        self.scope = outer
        first.iter = outer_iterated
        return self.made(node)

    def captured_in(self, generator: ast.comprehension) -> list[ast.Name]:
        """Variables of the present comprehension that functions inside keep."""
        parts = [part for part in ast.walk(generator.target) if isinstance(part, ast.Name)]
        return [part for part in parts if self.scope.is_captured_here(part.id)]

    visit_ListComp = visit_SetComp = visit_DictComp = _visit_comprehension  # noqa: N815
    visit_GeneratorExp = _visit_comprehension  # noqa: N815


def _bounds(node: ast.Slice) -> tuple[ast.expr | None, ...]:
    return node.lower, node.upper, node.step


def _may_read_containers(node: ast.Compare) -> bool:
    if len(node.ops) > 1 or not isinstance(node.ops[0], _CONTAINER_SIGNS):
        return False
    plain = isinstance(node.comparators[0], ast.Constant)
    return not plain or isinstance(node.ops[0], (ast.In, ast.NotIn))


def _is_arithmetic(node: ast.BinOp) -> bool:
    """Whether an operand is a constant that goes with no container."""
    if isinstance(node.op, ast.Mult):
        return False
    if isinstance(node.left, ast.Constant) and isinstance(node.op, ast.Mod):
        return False
    return isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
