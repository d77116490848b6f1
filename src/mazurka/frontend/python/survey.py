"""What can be seen in a model's syntax tree before anything is elaborated.

Whether a module-level name is a constant or a shared variable depends on every function; so do
the cells of some synchronization objects (a condition that nobody notifies singly needs no queue).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from mazurka.deadline import check_time

ATOMIC_WRITERS = frozenset({"cas", "fetch_add", "swap"})
CREATORS = frozenset({"spawn", "Thread"})
MUTATORS = frozenset({"append"})
INVARIANT, FORMULA = "invariant", "ltl"
DECLARERS = frozenset({"protected_by", "unprotected", "unshared", INVARIANT, FORMULA})
"""Calls that say something about data and do nothing."""
MessageForm: TypeAlias = int | str
"""What an item of a queue is: the length of a tuple, 0 for a number, or the name of a class."""


def walk_own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk through the nodes of a piece of code, but not into functions and classes in it."""
    waiting = list(body)[::-1]
    while waiting:
        check_time("reading the model")
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def find_call_name(call: ast.Call) -> str:
    """Find the last part of what is called: `start` for `workers[0].start()`."""
    match call.func:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
        case _:
            return ""


def count_stores(body: Iterable[ast.AST]) -> Counter[str]:
    """Count how often each name is assigned (comprehension variables are their own)."""
    counts: Counter[str] = Counter()
    for node in walk_own_nodes(body):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                counts[name] += 1
            case ast.AugAssign(ast.Name(name)):
                counts[name] += 1
            case ast.comprehension(target):
                counts.subtract(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    return +counts


def find_free_names(expr: ast.AST) -> set[str]:
    """Find the names that an expression uses and does not bind itself."""
    bound: set[str] = set()
    for node in ast.walk(expr):
        if isinstance(node, ast.comprehension):
            bound |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
    return {node.id for node in ast.walk(expr) if isinstance(node, ast.Name)} - bound


def leaves_early(body: Iterable[ast.AST]) -> bool:
    """Whether the code can jump out of a loop around it."""
    return any(
        isinstance(node, ast.Break | ast.Continue | ast.Return) for node in walk_own_nodes(body)
    )


def find_leaving_jump(body: Iterable[ast.AST]) -> ast.stmt | None:
    """Find a `return`, or a `break` or `continue` of a loop around the code."""
    for node in walk_own_nodes(body):
        if isinstance(node, ast.Return):
            return node
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return node
        if isinstance(node, ast.For | ast.While):
            waiting.extend(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return None


def creates_or_grows(body: Iterable[ast.AST]) -> bool:
    """Whether the code makes threads or appends to lists: loops around it are then unrolled."""
    return any(
        isinstance(node, ast.Call) and find_call_name(node) in CREATORS | MUTATORS
        for node in walk_own_nodes(body)
    )


def lists_calls(expr: ast.AST) -> bool:
    """Whether an expression has the form of a `threads` list: calls that make no thread objects."""
    match expr:
        case ast.List(items) | ast.Tuple(items):
            return any(_is_entry(item) or lists_calls(item) for item in items)
        case ast.ListComp(item):
            return _is_entry(item)
        case ast.BinOp(left, _, right) | ast.IfExp(_, left, right):
            return lists_calls(left) or lists_calls(right)
        case ast.Starred(inner):
            return lists_calls(inner)
        case _:
            return False


def _is_entry(item: ast.AST) -> bool:
    match item:
        case ast.Call():
            return find_call_name(item) not in CREATORS
        case ast.IfExp(_, body, orelse):
            return _is_entry(body) or _is_entry(orelse)
        case _:
            return False


def lists_threads(node: ast.stmt) -> bool:
    """Whether a statement of the module assigns a `threads` list, perhaps under an `if`."""
    match node:
        case ast.Assign([ast.Name("threads")], value):
            return lists_calls(value)
        case ast.AnnAssign(ast.Name("threads"), _, ast.expr() as value):
            return lists_calls(value)
        case ast.AugAssign(ast.Name("threads"), _, value):
            return lists_calls(value)
        case ast.If(_, body, orelse):
            return any(map(lists_threads, (*body, *orelse)))
        case _:
            return False


def decides_definitions(node: ast.If) -> bool:
    """Whether a branch at module level contains what only the module level can contain."""
    own = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    return lists_threads(node) or any(isinstance(part, own) for part in walk_own_nodes([node]))


@dataclass(frozen=True)
class FunctionFacts:
    """What a piece of code does with names."""

    body: Sequence[ast.stmt]
    stores: Counter[str]
    globals: frozenset[str]
    loads_outside_loops: frozenset[str]
    """Names read somewhere that is not a `for` loop over that very name."""
    branched: frozenset[str]
    """Names assigned in a branch or a loop."""

    def is_local(self, name: str) -> bool:
        return name in self.stores and name not in self.globals


def facts_of(body: Sequence[ast.stmt]) -> FunctionFacts:
    declared: set[str] = set()
    for node in walk_own_nodes(body):
        if isinstance(node, ast.Global):
            declared.update(node.names)
    stores, loads = count_stores(body), _escaping_loads(body)
    return FunctionFacts(body, stores, frozenset(declared), loads, _find_branched(body))


def _find_branched(body: Sequence[ast.stmt]) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        match node:
            case ast.With(_, inner):
                found |= _find_branched(inner)
            case ast.If() | ast.While() | ast.For() | ast.Try():
                found |= count_stores([node]).keys()
    return frozenset(found)


def _escaping_loads(body: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set()

    def visit(node: ast.AST, loops: frozenset[str]) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in loops:
            found.add(node.id)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            visit(node.iter, loops)
            for child in node.body:
                visit(child, loops | {node.target.id})
            for child in node.orelse:
                visit(child, loops)
            return
        for inner in ast.iter_child_nodes(node):
            visit(inner, loops)

    for statement in body:
        visit(statement, frozenset())
    return frozenset(found)


@dataclass(frozen=True)
class ModelSurvey:
    """Facts about a whole model file."""

    functions: dict[str, ast.FunctionDef]
    classes: dict[str, ast.ClassDef]
    written: frozenset[str]
    """Module-level names that functions assign."""
    loaded: frozenset[str]
    """Names that functions and methods read."""
    handed_on: frozenset[str]
    """Names used other than by indexing, `len` and iteration, or changed through an index."""
    calls: frozenset[str]
    """The last parts of everything that is called anywhere."""
    declarers: frozenset[str]
    """How the model's imports spell the calls that only declare something."""
    invariants: tuple[ast.Call, ...]
    """The calls of `invariant` that are statements, wherever they stand."""
    watched: frozenset[str]
    """Names that invariants read."""
    formulas: tuple[ast.Call, ...]
    """The calls of `ltl` that are statements, wherever they stand."""
    puts: tuple[ast.Call, ...]
    """The calls of methods named `put`, wherever they stand."""
    named_calls: Mapping[str, tuple[ast.Call, ...]]
    """The calls whose results are given to a single name, anywhere in the model."""

    @property
    def messages(self) -> set[MessageForm]:
        """What is put into queues, as far as it can be seen."""
        found = (find_put_form(call, self.classes) for call in self.puts)
        return {form for form in found if form is not None}

    def seen_by_threads(self, name: str) -> bool:
        """Whether some code besides the module's own statements uses a module-level name."""
        return name in self.loaded or name in self.written or name in self.watched

    def declares(self, node: ast.AST) -> bool:
        """Whether a statement is a declaration of how data are shared."""
        match node:
            case ast.Expr(ast.Call(function)):
                return ast.unparse(function) in self.declarers
            case _:
                return False

    @property
    def creates(self) -> bool:
        return bool(self.calls & CREATORS)

    @property
    def joins(self) -> bool:
        return bool(self.calls & {"join", "is_alive"})


def survey(module: ast.Module) -> ModelSurvey:
    nodes = list(walk_own_nodes(module.body))
    functions = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in nodes if isinstance(n, ast.ClassDef)}
    defined = [n for n in nodes if isinstance(n, ast.FunctionDef)]
    for definition in nodes:
        if isinstance(definition, ast.ClassDef):
            defined += [n for n in definition.body if isinstance(n, ast.FunctionDef)]
    written: set[str] = set()
    loaded: set[str] = set()
    for function in defined:
        facts = facts_of(function.body)
        written |= facts.globals & facts.stores.keys()
        own = {
            argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)
        }
        own |= {name for name in facts.stores if facts.is_local(name)}
        loaded |= {n.id for n in walk_own_nodes(function.body) if isinstance(n, ast.Name)} - own
    defined_here = functions.keys() | classes.keys()
    declarers = _spellings(module, DECLARERS) - defined_here
    invariants = tuple(_find_statements(module, _spellings(module, {INVARIANT}) - defined_here))
    calls: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            calls.add(find_call_name(node))
            if find_call_name(node) in ATOMIC_WRITERS and node.args:
                written.update(_names([node.args[0]]))
    return ModelSurvey(
        functions,
        classes,
        frozenset(written),
        frozenset(loaded),
        _handed_on(module, declarers),
        frozenset(calls),
        frozenset(declarers),
        invariants,
        frozenset(name for call in invariants for name in find_free_names(call)),
        tuple(_find_statements(module, _spellings(module, {FORMULA}) - defined_here)),
        tuple(node for node in ast.walk(module) if _is_put(node)),
        _find_named_calls(module),
    )


def find_forgotten_globals(module: ast.Module, facts: ModelSurvey) -> Iterator[str]:
    """Say where a function assigns a variable of its own that has the name of a shared one.

    This is how Python reads a function without `global`, but seldom what was meant: nobody else
    sees the assignment.  The name counts as shared if the module assigns it and other code reads
    it.  Parameters and the variables of loops are meant to be the function's own.
    """
    nodes = list(walk_own_nodes(module.body))
    given = {name for node in nodes for name in _assigned(node)}
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    seen = given & (facts.loaded | facts.watched | read)
    for function in facts.functions.values():
        own = facts_of(function.body)
        parameters = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        lines: dict[str, int] = {}
        for node in walk_own_nodes(function.body):
            for name in _assigned(node):
                if name in seen - parameters and own.is_local(name):
                    lines.setdefault(name, getattr(node, "lineno", 0))
        for name, line in lines.items():
            changed = "" if name in facts.written else f"; the module's `{name}` is never changed"
            yield (
                f"`{function.name}` assigns a variable `{name}` of its own (line {line}){changed}:"
                f" is `global {name}` missing?"
            )


def _assigned(node: ast.AST) -> Iterator[str]:
    """Find the variables that an assignment gives a value."""
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found += node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        found.append(node.target)
    for target in found:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from _names(parts)


def _is_put(node: ast.AST) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(ast.Attribute(_, "put"), [_, *_]):
            return True
        case _:
            return False


def find_put_form(put: ast.Call, classes: Container[str]) -> MessageForm | None:
    """Find the form of what is put into a queue, where the source shows it."""
    match put.args[0]:
        case ast.Tuple(items):
            return len(items)
        case ast.Call(ast.Name(name)) if name in classes:
            return name
        case ast.Constant() | ast.BinOp():
            return 0
        case _:
            return None


def _find_named_calls(module: ast.Module) -> dict[str, tuple[ast.Call, ...]]:
    found: dict[str, tuple[ast.Call, ...]] = {}
    for node in ast.walk(module):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call):
                found[name] = (*found.get(name, ()), call)
    return found


def is_frozen(definition: ast.ClassDef) -> bool:
    """Whether a class is a dataclass whose instances do not change."""
    for decorator in definition.decorator_list:
        match decorator:
            case ast.Call(_, _, keywords):
                if any(
                    keyword.arg == "frozen"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is True
                    for keyword in keywords
                ):
                    return True
    return False


def _spellings(module: ast.Module, wanted: AbstractSet[str]) -> set[str]:
    """Find how the imports at module level spell these names of the model language."""
    found: set[str] = set()
    for node in module.body:
        match node:
            case ast.ImportFrom("mazurka.model", names):
                for alias in names:
                    if alias.name == "*":
                        found |= wanted
                    elif alias.name in wanted:
                        found.add(alias.asname or alias.name)
            case ast.ImportFrom("mazurka", names) | ast.Import(names):
                for alias in names:
                    if alias.name in ("model", "mazurka.model"):
                        prefix = alias.asname or alias.name
                        found |= {f"{prefix}.{name}" for name in wanted}
    return found


def _find_statements(module: ast.Module, spellings: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(module):
        match node:
            case ast.Expr(ast.Call(function) as call) if ast.unparse(function) in spellings:
                yield call


def _names(nodes: Sequence[ast.expr]) -> Iterator[str]:
    return (node.id for node in nodes if isinstance(node, ast.Name))


def _handed_on(module: ast.Module, declarers: set[str]) -> frozenset[str]:
    """Find names whose object could be changed, or reached under another name."""
    harmless: set[int] = set()
    for node in ast.walk(module):
        match node:
            case ast.Subscript(ast.Name() as base, _, ast.Load()):
                harmless.add(id(base))
            case ast.Call(ast.Name("len"), [ast.Name() as base]):
                harmless.add(id(base))
            case ast.Call(function) if ast.unparse(function) in declarers:
                harmless.update(map(id, ast.walk(node)))
            case ast.For(_, ast.Name() as base) | ast.comprehension(_, ast.Name() as base):
                harmless.add(id(base))
            case ast.AugAssign(ast.Subscript(ast.Name() as base)):
                harmless.discard(id(base))
    return frozenset(
        node.id
        for node in ast.walk(module)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and id(node) not in harmless
    )
