"""Go through the module level of a model, statement by statement as Python runs it.

The module level has constants, shared variables and objects, definitions, and the `threads` list.
What other statements above that list do is found out at once, as far as it can be foreseen; all
others are kept, in order, for a thread called `main`.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mazurka.errors import OptionError
from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.shapes import INTEGER, TRUTH, Blueprint, NumberShape, Reference
from mazurka.frontend.python.lowering import (
    FunctionThread,
    Lowering,
    Model,
    refuse_syntax,
)
from mazurka.frontend.python.module_level.module_run import ModuleRun
from mazurka.frontend.python.module_level.signatures import evaluate_fields, evaluate_signature
from mazurka.frontend.python.module_level.thread_list import EXAMPLE, StartThreads, collect_threads
from mazurka.frontend.python.primitives.threads import title_thread
from mazurka.frontend.python.source import import_names
from mazurka.frontend.python.statements import declared_shape
from mazurka.frontend.python.survey import (
    count_stores,
    decides_definitions,
    find_call_name,
    find_free_names,
    lists_calls,
    lists_threads,
    walk_own_nodes,
)
from mazurka.frontend.python.values.containers import make_array
from mazurka.frontend.python.values.kinds import (
    Function,
    Imported,
    Interval,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    Text,
    ThreadCall,
    ThreadHandle,
    Value,
    count_numbers,
    kind_of,
)
from mazurka.ir.expressions import Const
from mazurka.ir.program import Span


@dataclass(eq=False, slots=True)
class Declarations:
    """The module level of a model, statement by statement as Python runs it.

    What the statements above the `threads` list do is found out at once, as far as it can be
    foreseen.  From the first one that cannot be on, statements wait for `main`.
    """

    model: Model
    definitions: Mapping[str, int]
    constants: dict[str, int] = field(default_factory=dict)
    stores: Counter[str] = field(default_factory=Counter)
    listed: list[ThreadCall] = field(default_factory=list)
    """The `threads` list as it was last assigned."""
    below: ast.stmt | None = None
    """The first statement below the list that counts so far of which code has been run."""
    module: ast.Module = field(init=False)
    run: ModuleRun = field(init=False)

    def __post_init__(self) -> None:
        self.run = ModuleRun(self.model)

    @property
    def low(self) -> Lowering:
        return self.run.low

    @property
    def main(self) -> list[ast.stmt]:
        """The statements that `main` runs."""
        return self.run.main

    def elaborate(self, module: ast.Module) -> None:
        body = list(_flatten(module.body))
        self.stores = count_stores(body)
        self.module = module
        self.model.later = {
            node.name: node.lineno
            for node in walk_own_nodes(body)
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        self.model.assigned = _find_first_lines(body)
        start = _find_last_list(body)
        if start is None or self.model.survey.creates:
            self._plan_main_for(body)
        at = 0
        while at < len(body):
            node = body[at]
            self.run.foreseeing = start is not None and at <= start
            if at == start and isinstance(node, ast.If):
                chosen = self._choose(node)
                if any(map(lists_threads, chosen)):
                    # What follows the list within the branch runs beside its threads, too.
                    body[at : at + 1] = chosen
                    start = _find_last_list(body)
                    continue
                for inner in chosen:
                    self._statement(inner)
                self._check_below(node)
            else:
                self._statement(node)
            if at == start:
                self._start_threads(node, body[at + 1 :])
            at += 1
        self._check_definitions()
        self.constants |= self.run.freeze_numbers()
        if self.main and not any(plan.function is None for plan in self.model.plans):
            self._plan_main()
        self._check_threads(module, body)

    def _check_threads(self, module: ast.Module, body: list[ast.stmt]) -> None:
        """Refuse a model without threads, or with calls that look like threads and are none."""
        plans, functions = self.model.plans, self.model.survey.functions
        if not any(plan.active for plan in plans):
            why = _find_unstarted(module) or f"the model has no threads; add {EXAMPLE}"
            raise self.low.refuse(module.body[-1], why)
        alone = not any(plan.function for plan in plans) and not self.starts_late
        if self.model.survey.creates or not alone:
            return
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
                calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call)]
                if lists_calls(node.value) and any(find_call_name(c) in functions for c in calls):
                    raise self.low.refuse(
                        node,
                        f"`{ast.unparse(node.value)}` runs these functions one after the other, and"
                        f" the model has no thread but `main`; did you mean {EXAMPLE}?",
                    )

    def _plan_main_for(self, body: Iterable[ast.stmt]) -> None:
        """Plan `main` before other threads if these statements need it, judged by their form."""
        if any(_runs(node) for node in body if not self.model.survey.declares(node)):
            self._plan_main()

    def _plan_main(self) -> None:
        number = len(self.model.plans)
        span = Span(self.model.file, 1)
        self.model.plans.append(FunctionThread(number, "main", span))

    def _check_class(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).split(".")[-1] != "dataclass":
                raise self.low.refuse(node, f"the decorator of `{node.name}` is not supported")

    def _statement(self, node: ast.stmt) -> None:
        listed, before = bool(self.listed) or self.starts_late, self.run.foreseen
        try:
            self._take(node)
        except NotStatic:
            message = f"`{ast.unparse(node)[:60]}` needs a value that is not constant here"
            raise self.low.refuse(node, message) from None
        if listed and self.run.foreseen > before and not lists_threads(node):
            self.below = self.below or node

    def _take(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                names = import_names(node, self.model.known, self.model.file)
                self.model.globals.update(names)
            case ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.FunctionDef(name):
                evaluate_signature(self.run, node)
                self._introduce(name, Function(node), node)
            case ast.ClassDef(name):
                self._check_class(node)
                evaluate_fields(self.run, node)
                self._introduce(name, RecordClass(node), node)
            case ast.AsyncFunctionDef():
                raise self.low.refuse(node, refuse_syntax(node))
            case ast.Expr(ast.Call(ast.Attribute(ast.Name("threads"), method))) if (
                self.listed or self.starts_late
            ):
                raise self.low.refuse(
                    node,
                    f"`threads.{method}` cannot be called: `threads` lists the calls that threads"
                    " make; write `threads += [...]` to add to it",
                )
            case ast.Expr(ast.Call(ast.Name("print")) as call):
                self.low.value(call)
            case ast.Expr(ast.Call() as call) if self.model.survey.declares(node):
                self._declare_facts(call)
            case ast.Assign([ast.Name("threads")], value) | ast.AnnAssign(
                ast.Name("threads"), _, ast.expr() as value
            ) if self.run.foreseeing and lists_calls(value):
                self._list_threads(value, self.listed if _mentions_threads(value) else [])
            case ast.AugAssign(ast.Name("threads"), ast.Add(), value) if self.run.foreseeing:
                listed = ast.copy_location(ast.Name("threads", ast.Load()), node)
                self._list_threads(_sum(listed, value), self.listed)
            case ast.If() if decides_definitions(node):
                for inner in self._choose(node):
                    self._statement(inner)
            case ast.Assign([ast.Name(name)], value):
                self._declare(name, value, None, node)
            case ast.Assign(names, ast.Constant() as value) if _all_names(names):
                for target in names:
                    assert isinstance(target, ast.Name)
                    self._declare(target.id, value, None, _single(target, value, node))
            case ast.Assign(names) if len(names) > 1 and _all_names(names):
                raise self.low.refuse(node, "write one assignment for each name here")
            case ast.AnnAssign(ast.Name(name), annotation, ast.expr() as value):
                self._declare(name, value, annotation, node)
            case ast.AnnAssign(ast.Name(name), annotation, None):
                self._declare_bare(name, annotation, node)
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values) as given) if _pairs(
                targets, values
            ) and count_stores([node]).keys() <= self._fresh(given):
                for target, value in zip(targets, values, strict=True):
                    assert isinstance(target, ast.Name)
                    self._declare(target.id, value, None, _single(target, value, node))
            case ast.Assign([ast.Tuple(targets)], ast.Call(ast.Name("range")) as given) if (
                numbers := self._count_out(targets, given)
            ) and count_stores([node]).keys() <= self._fresh(given):
                for target, number in zip(targets, numbers, strict=True):
                    assert isinstance(target, ast.Name)
                    value = ast.copy_location(number, given)
                    self._declare(target.id, value, None, _single(target, value, node))
            case _:
                self._execute(node)

    def _count_out(self, targets: list[ast.expr], given: ast.Call) -> list[ast.expr]:
        """Write out a range with as many numbers as there are names (`A, B, C = range(3)`)."""
        value = None if self.run.waits(given) else self.run.statically(lambda low: low.value(given))
        match value:
            case Interval(Const(start), Const(stop), step):
                numbers = range(start, stop, step)
                if count_numbers(numbers) == len(targets) and _all_names(targets):
                    return [ast.Constant(number) for number in numbers]
        return []

    def _execute(self, node: ast.stmt) -> None:
        if self.below is None and (self.listed or self.starts_late):
            self.below = node
        self.run.execute(node)

    def _check_below(self, last: ast.If) -> None:
        """Refuse a statement of which code has been run, but which stands below the list that
        counts: the value of a new name, a default, a field may call functions, too.

        It was run as if another list followed, which an `if` has left out.
        """
        if self.below is not None:
            raise self.low.refuse(
                self.below,
                "this stands below the `threads` list that counts, since the `if` at line"
                f" {last.lineno} assigns none; write it above the list, or below that `if`",
            )

    def _introduce(self, name: str, value: Value, node: ast.stmt) -> None:
        known = self.model.globals.get(name)
        if known is not None and not isinstance(known, Imported):
            raise self.low.refuse(node, f"`{name}` is defined twice; use another name")
        self.model.globals[name] = value

    def _choose(self, node: ast.If) -> list[ast.stmt]:
        """The statements of the branch that is taken."""
        return list(_flatten(node.body if self._is_true(node.test) else node.orelse))

    def _is_true(self, test: ast.expr) -> bool:
        value = None if self.run.waits(test) else self.run.evaluate(test)
        if not isinstance(value, Number) or value.constant is None:
            raise self.low.refuse(
                test,
                f"what is defined here depends on `{ast.unparse(test)}`, which is not known"
                " before the program runs",
            )
        return value.constant != 0

    def _fresh(self, values: ast.expr) -> set[str]:
        """The names assigned nowhere before: giving them values one by one changes nothing."""
        return self.stores.keys() - self.model.globals.keys() - find_free_names(values)

    def _declare_facts(self, call: ast.Call) -> None:
        for name in sorted(set().union(*map(find_free_names, call.args)) & self.run.deferred):
            raise self.low.refuse(
                call, f"`{name}` is a variable of `main` alone; no other thread can reach it"
            )
        self.low.value(call)

    def _declare_bare(self, name: str, annotation: ast.expr, node: ast.stmt) -> None:
        shape = declared_shape(self.low, annotation)
        if shape is None:
            return
        self._share_number(name, shape, Number(Const(min(max(0, shape.low), shape.high))), node)

    def _declare(
        self, name: str, expr: ast.expr, annotation: ast.expr | None, node: ast.stmt
    ) -> None:
        survey = self.model.survey
        seen = survey.seen_by_threads(name)
        again = name in self.model.globals
        if name == "threads" and self.listed:
            raise self.low.refuse(node, "`threads` has been a list of calls above")
        if name == "threads" and self._calls_function(expr):
            raise self.low.refuse(node, f"`threads` must be a list; add {EXAMPLE}")
        private = self.stores[name] > 1 and not seen and name != "threads"
        if again and annotation is not None and declared_shape(self.low, annotation):
            raise self.low.refuse(node, f"declare the range of `{name}` where it is first assigned")
        if again or private:
            self._execute(node)
            return
        if self.run.waits(expr):
            self._run(name, node, seen)
            return
        early = self.run.foreseeing or seen
        value = (
            self.run.evaluate(expr) if early else self.run.statically(lambda low: low.value(expr))
        )
        if value is None:
            self._run(name, node, seen)
            return
        grows = name != "threads" or survey.creates
        if isinstance(value, Sequence) and not value.items and grows:
            if seen:
                raise self.low.refuse(node, _empty(name, expr, self.module))
            self._run(name, node, seen)
            return
        if seen and any(_may_use(node, name) for node in self.main):
            raise self.low.refuse(node, f"define `{name}` before the statements that run")
        shape = declared_shape(self.low, annotation) if annotation is not None else None
        self._define(name, value, shape, node)

    def _calls_function(self, expr: ast.expr) -> bool:
        return isinstance(expr, ast.Call) and find_call_name(expr) in self.model.survey.functions

    def _run(self, name: str, node: ast.stmt, seen: bool) -> None:
        if seen:
            user = "an invariant" if name in self.model.survey.watched else "functions"
            raise self.low.refuse(
                node, f"`{name}` is used by {user}, so its first value must be a constant"
            )
        self.run.defer(node)

    def _define(self, name: str, value: Value, shape: NumberShape | None, node: ast.stmt) -> None:
        if shape is not None and not isinstance(value, Number):
            raise self.low.refuse(
                node, f"`{name}` is declared as {shape.title}, not {kind_of(value)}"
            )
        if isinstance(value, Sequence):
            if name == "threads":
                self._check_handles(value, node)
            if any(isinstance(item, Text) for item in value.items):
                raise self.low.refuse(node, f"`{name}` holds strings; models have numbers only")
            value = self._list(name, value, node)
        match value:
            case Number():
                self._number(name, value, shape, node)
            case Blueprint():
                self._check_once(name, node)
                self.model.globals[name] = self._share(name, value, node)
            case Text():
                raise self.low.refuse(
                    node, f"`{name}` is a string; models have numbers only (-1, 0, 1, ...)"
                )
            case Nothing() if self._changes(name):
                raise self.low.refuse(
                    node,
                    f"`{name}` is None at first and gets a value later; begin with a number that"
                    f" stands for None, such as `{name} = -1`",
                )
            case _:
                self._check_once(name, node)
                self.model.globals[name] = value

    def _changes(self, name: str) -> bool:
        return self.stores[name] > 1 or name in self.model.survey.written

    def _check_once(self, name: str, node: ast.stmt) -> None:
        if self._changes(name):
            raise self.low.refuse(
                node, f"`{name}` is assigned again later; only numbers can be replaced"
            )

    def _list(self, name: str, value: Sequence, node: ast.stmt) -> Value:
        """Make an array of objects, and of numbers that the program may change."""
        array = make_array(value.items)
        numbers = all(isinstance(item, Number) for item in value.items)
        changes = value.growing and name in self.model.survey.handed_on
        if array is not None and (changes or not numbers):
            return array
        items = enumerate(value.items)
        placed = [self._place_item(f"{name}[{at}]", item, node) for at, item in items]
        return Sequence(placed, is_tuple=value.is_tuple)

    def _place_item(self, name: str, item: Value, node: ast.stmt) -> Value:
        if isinstance(item, Blueprint):
            self._check_constant(name, node, constant=item.is_static)
            return self.model.share(name, item, None)
        return item

    def _number(self, name: str, value: Number, shape: NumberShape | None, node: ast.stmt) -> None:
        if self._changes(name):
            boolean = TRUTH if value.boolean else INTEGER
            self._share_number(name, shape or boolean, value, node)
            return
        number = self.definitions.get(name, value.constant)
        self._check_constant(name, node, constant=number is not None)
        assert number is not None
        if shape is not None and not shape.inferred and not shape.low <= number <= shape.high:
            raise self.low.refuse(node, f"`{name}` is {number}, outside {shape.title}")
        self.constants[name] = number
        self.model.globals[name] = Number(Const(number), value.boolean)

    def _check_constant(self, name: str, node: ast.stmt, *, constant: bool) -> None:
        if not constant:
            raise self.low.refuse(
                node,
                f"the first value of `{name}` cannot be computed (a division by zero, or a number"
                " that does not fit in 64 bits); give it a number",
            )

    def _share(self, name: str, blueprint: Blueprint, node: ast.stmt) -> Reference:
        self._check_constant(name, node, constant=blueprint.is_static)
        return self.model.share(name, blueprint, self.low.span(node))

    def _share_number(self, name: str, shape: NumberShape, value: Number, node: ast.stmt) -> None:
        blueprint = Blueprint(shape, (value.expr,))
        self.model.globals[name] = self._share(name, blueprint, node)

    # --- the list of threads ---------------------------------------------------------------

    def _check_handles(self, value: Sequence, node: ast.stmt) -> None:
        """Refuse a list that is called `threads` and holds none."""
        if not value.items:
            raise self.low.refuse(node, f"`threads` is empty; write for example {EXAMPLE}")
        for item in value.items:
            if not isinstance(item, ThreadHandle):
                raise self.low.refuse(
                    node,
                    f"`threads` must be a list of calls such as {EXAMPLE};"
                    f" it contains {kind_of(item)}",
                )

    def _list_threads(self, expr: ast.expr, known: list[ThreadCall]) -> None:
        """Evaluate the list with the values of this moment; a list that came before is dropped."""
        self.below = None
        if self.main and _mentions_threads(expr):
            raise self.low.refuse(expr, "write the whole list at once; it depends on the run")
        self.run.main = [node for node in self.main if not isinstance(node, StartThreads)]
        found = None
        if not self.run.waits(expr):
            found = self.run.now(expr, lambda low: Sequence([*collect_threads(low, expr, known)]))
        if isinstance(found, Sequence) and not self.main:
            self.listed = [item for item in found.items if isinstance(item, ThreadCall)]
            return
        start = StartThreads()
        start.value = expr
        self.listed = []
        self.run.defer(ast.copy_location(start, expr))

    def _start_threads(self, node: ast.stmt, rest: list[ast.stmt]) -> None:
        """Plan the threads of the list: they run beside the statements that follow."""
        self.run.start_threads()
        if self.starts_late:
            if not any(plan.function is None for plan in self.model.plans):
                self._plan_main()
            return
        if not self.model.survey.creates:
            self._plan_main_for(rest)
        for call in self.listed:
            number = len(self.model.plans)
            function, arguments = call.function.definition, call.arguments
            title = title_thread(function, dict(arguments))
            span, lineage = self.low.span(node), frozenset({function.name})
            plan = FunctionThread(number, title, span, True, function, arguments, lineage)
            self.model.plans.append(plan)

    @property
    def starts_late(self) -> bool:
        """Whether `main` starts the threads of the list, since only it knows their arguments."""
        return any(isinstance(node, StartThreads) for node in self.main)

    def _check_definitions(self) -> None:
        for name in self.definitions:
            if name in self.constants:
                continue
            if isinstance(self.model.globals.get(name), Reference):
                why = "assigned more than once" if self.stores[name] > 1 else "a shared variable"
                raise OptionError(
                    f"-D {name}: `{name}` is {why}, not a constant",
                    file=self.model.file,
                )
            known = ", ".join(sorted(self.constants)) or "none"
            close = [each for each in self.constants if each.lower() == name.lower()]
            close += difflib.get_close_matches(name, self.constants, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise OptionError(
                f"-D {name}: the model has no constant `{name}`{hint} (its constants: {known})",
                file=self.model.file,
            )


def _empty(name: str, expr: ast.expr, module: ast.Module) -> str:
    if isinstance(expr, ast.List):
        changed = _find_growth(name, module)
        length = f"a fixed length, which {changed} would change" if changed else "a fixed length"
        return f"lists have {length}; use Array(Int[0, 9], n) or queue.Queue()"
    return f"the length of `{name}` is 0: `{ast.unparse(expr)}` has no items"


def _find_growth(name: str, module: ast.Module) -> str | None:
    """Find the first call that makes a list longer, and its line."""
    for node in ast.walk(module):
        match node:
            case ast.Call(ast.Attribute(ast.Name(owner), "append" | "extend" | "insert")) if (
                owner == name
            ):
                return f"`{ast.unparse(node)}` (line {node.lineno})"
    return None


def _find_unstarted(module: ast.Module) -> str | None:
    """Explain that a thread is made and none is ever started; None where that is not so."""
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    if any(find_call_name(call) == "start" for call in calls):
        return None
    for call in calls:
        if find_call_name(call) == "Thread":
            made = ast.unparse(call)
            return f"`{made}` makes a thread that nobody starts; call its `start()`"
    return None


def _find_first_lines(body: Iterable[ast.stmt]) -> dict[str, int]:
    """Find where each variable of the module is first assigned."""
    lines: dict[str, int] = {}
    for node in walk_own_nodes(body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                lines.setdefault(name.id, name.lineno)
    return lines


def _find_last_list(body: Iterable[ast.stmt]) -> int | None:
    """The position of the last statement that assigns a `threads` list."""
    return max((at for at, node in enumerate(body) if lists_threads(node)), default=None)


def _flatten(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Replace `if __name__ == "__main__":` by the statements that it guards."""
    for node in body:
        match node:
            case ast.If(ast.Compare(ast.Name("__name__"), [ast.Eq()]), inner):
                yield from _flatten(inner)
            case _:
                yield node


def _runs(node: ast.stmt) -> bool:
    """Whether a statement at module level makes a `main` thread necessary, judged by its form."""
    match node:
        case ast.Expr(ast.Constant()) | ast.Pass():
            return False
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
            return False
        case ast.Assign() | ast.AnnAssign() | ast.AsyncFunctionDef():
            return False
        case _:
            return True


def _may_use(node: ast.stmt, name: str) -> bool:
    """Whether a statement may use a name: it does so itself, or it calls something."""
    return any(
        isinstance(part, ast.Call) or (isinstance(part, ast.Name) and part.id == name)
        for part in ast.walk(node)
    )


def _mentions_threads(expr: ast.expr) -> bool:
    return "threads" in find_free_names(expr)


def _sum(first: ast.expr, second: ast.expr) -> ast.expr:
    return ast.copy_location(ast.BinOp(first, ast.Add(), second), second)


def _all_names(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def _pairs(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    return _all_names(targets) and len(targets) == len(values)


def _single(target: ast.expr, value: ast.expr, node: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([target], value), node)
