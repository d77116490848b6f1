"""Elaborate a syntax tree into a program: its module level, then its threads.

The module level has constants, shared variables and objects, and the `threads` list.  Statements
that are not declarations are kept, in order, for a thread called `main`.

How many threads there are decides the size of some objects, and is known only once all code has
been seen.  So a model is elaborated until the number it was elaborated for is the number found.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.program import Automaton, Expected, settle_threads
from mazurka.frontend.kit.shapes import INTEGER, TRUTH, Blueprint, NumberShape, Reference
from mazurka.frontend.kit.threads import finish
from mazurka.frontend.python import (  # noqa: F401 - handlers: together they are the language
    assertions,
    calls,
    containers,
    loops,
    objects,
    operations,
    protection,
    statements,
)
from mazurka.frontend.python.annotations import understand_annotations
from mazurka.frontend.python.assertions import build_observer
from mazurka.frontend.python.assignment import bind_parameter
from mazurka.frontend.python.containers import make_array
from mazurka.frontend.python.lowering import (
    CALLS,
    Activation,
    FunctionThread,
    LocalVariable,
    Lowering,
    Model,
    refuse_syntax,
)
from mazurka.frontend.python.primitives import locks, queues, signals, threads  # noqa: F401
from mazurka.frontend.python.primitives.threads import add_parameter_cell, title_thread
from mazurka.frontend.python.source import import_names, parse, shorten
from mazurka.frontend.python.statements import declared_shape
from mazurka.frontend.python.survey import (
    ModelSurvey,
    count_stores,
    facts_of,
    find_free_names,
    survey,
)
from mazurka.frontend.python.values import (
    Function,
    Nothing,
    Number,
    RecordClass,
    Sequence,
    Text,
    ThreadCall,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.ir.expressions import Const
from mazurka.ir.program import Program, Span

EXAMPLE = "`threads = [worker(i) for i in range(2)]`"


@dataclass(eq=False, slots=True)
class Declarations:
    model: Model
    definitions: Mapping[str, int]
    main: list[ast.stmt] = field(default_factory=list)
    constants: dict[str, int] = field(default_factory=dict)
    stores: Counter[str] = field(default_factory=Counter)
    deferred: set[str] = field(default_factory=set)
    """Names that get their first value while the program runs."""
    low: Lowering = field(init=False)

    def __post_init__(self) -> None:
        self.low = Lowering(self.model, 0, None)

    def elaborate(self, module: ast.Module) -> None:
        body = list(_flatten(module.body))
        self.stores = count_stores(body)
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self.model.globals[node.name] = Function(node)
            elif isinstance(node, ast.ClassDef):
                self._check_class(node)
                self.model.globals[node.name] = RecordClass(node)
        if any(_runs(node) for node in body if not self.model.survey.declares(node)):
            self._plan_main()
        for node in body:
            self._statement(node)
        self._check_definitions()
        if self.main and not any(plan.function is None for plan in self.model.plans):
            self._plan_main()
        if not any(plan.active for plan in self.model.plans):
            raise self.low.refuse(module.body[-1], f"the model has no threads; add {EXAMPLE}")

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
        match node:
            case ast.Import() | ast.ImportFrom():
                names = import_names(node, self.model.known, self.model.file)
                self.model.globals.update(names)
            case ast.FunctionDef() | ast.ClassDef() | ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.AsyncFunctionDef():
                raise self.low.refuse(node, refuse_syntax(node))
            case ast.Expr(ast.Call(ast.Name("print")) as call):
                self.low.value(call)
            case ast.Expr(ast.Call() as call) if self.model.survey.declares(node):
                self._declare_facts(call)
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
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if _pairs(targets, values):
                for target, value in zip(targets, values, strict=True):
                    assert isinstance(target, ast.Name)
                    self._declare(target.id, value, None, _single(target, value, node))
            case _:
                self._defer(node)

    def _declare_facts(self, call: ast.Call) -> None:
        for name in sorted(set().union(*map(find_free_names, call.args)) & self.deferred):
            raise self.low.refuse(
                call, f"`{name}` is a variable of `main` alone; no other thread can reach it"
            )
        self.low.value(call)

    def _defer(self, node: ast.stmt) -> None:
        """Leave the statement to `main`."""
        self.main.append(node)
        self.deferred |= count_stores([node]).keys() - self.model.globals.keys()

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
        private = self.stores[name] > 1 and not seen and name != "threads"
        if again and annotation is not None and declared_shape(self.low, annotation):
            raise self.low.refuse(node, f"declare the range of `{name}` where it is first assigned")
        if again or private:
            self._defer(node)
            return
        if any(isinstance(n, ast.Name) and n.id in self.deferred for n in ast.walk(expr)):
            self._run(name, node, seen)
            return
        held, plans = len(self.model.storage.cells), len(self.model.plans)
        try:
            self.low.collecting = name == "threads"
            value = self.low.value(expr)
        except NotStatic:
            del self.model.storage.cells[held:], self.model.plans[plans:]
            self.low.frames, self.low.overlay, self.low.direct = [], {}, None
            self.model.making.clear()
            self._run(name, node, seen)
            return
        finally:
            self.low.collecting = False
        grows = name != "threads" or survey.creates
        if isinstance(value, Sequence) and not value.items and grows:
            if seen:
                raise self.low.refuse(node, _empty(name, expr))
            self._run(name, node, seen)
            return
        if self.main and seen:
            raise self.low.refuse(node, f"define `{name}` before the statements that run")
        shape = declared_shape(self.low, annotation) if annotation is not None else None
        self._define(name, value, shape, node)

    def _run(self, name: str, node: ast.stmt, seen: bool) -> None:
        if seen:
            user = "an invariant" if name in self.model.survey.watched else "functions"
            raise self.low.refuse(
                node, f"`{name}` is used by {user}, so its first value must be a constant"
            )
        self._defer(node)

    def _define(self, name: str, value: Value, shape: NumberShape | None, node: ast.stmt) -> None:
        if shape is not None and not isinstance(value, Number):
            raise self.low.refuse(
                node, f"`{name}` is declared as {shape.title}, not {kind_of(value)}"
            )
        if isinstance(value, Sequence):
            if name == "threads" and self._start_threads(value, node):
                return
            if any(isinstance(item, Text) for item in value.items):
                raise self.low.refuse(node, f"`{name}` holds strings; models have numbers only")
            value = self._list(name, value, node)
        match value:
            case Number():
                self._number(name, value, shape, node)
            case Blueprint():
                self._check_once(name, node)
                self.model.globals[name] = self._share(name, value, node)
            case ThreadCall():
                raise self.low.refuse(node, f"`threads` must be a list; add {EXAMPLE}")
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
        return Sequence([self._place_item(f"{name}[{at}]", item, node) for at, item in items])

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

    def _start_threads(self, value: Sequence, node: ast.stmt) -> bool:
        """Plan the threads of the `threads` list; returns False for a list of thread objects."""
        if value.items and all(isinstance(item, ThreadHandle) for item in value.items):
            return False
        if not value.items:
            raise self.low.refuse(node, f"`threads` is empty; write for example {EXAMPLE}")
        for item in value.items:
            if not isinstance(item, ThreadCall):
                raise self.low.refuse(
                    node,
                    f"`threads` must be a list of calls such as {EXAMPLE};"
                    f" it contains {kind_of(item)}",
                )
            number = len(self.model.plans)
            function, arguments = item.function.definition, item.arguments
            title = title_thread(function, dict(arguments))
            span, lineage = self.low.span(node), frozenset({function.name})
            plan = FunctionThread(number, title, span, True, function, arguments, lineage)
            self.model.plans.append(plan)
        return True

    def _check_definitions(self) -> None:
        for name in self.definitions:
            if name in self.constants:
                continue
            if isinstance(self.model.globals.get(name), Reference):
                raise OptionError(
                    f"-D {name}: `{name}` is a shared variable, not a constant",
                    file=self.model.file,
                )
            known = ", ".join(sorted(self.constants)) or "none"
            close = difflib.get_close_matches(name, self.constants, n=1)
            hint = f"; did you mean `{close[0]}`?" if close else ""
            raise OptionError(
                f"-D {name}: the model has no constant `{name}`{hint} (its constants: {known})",
                file=self.model.file,
            )


def _empty(name: str, expr: ast.expr) -> str:
    if isinstance(expr, ast.List):
        return "lists have a fixed length; use Array(Int[0, 9], n) or queue.Queue()"
    return f"the length of `{name}` is 0: `{ast.unparse(expr)}` has no items"


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


def _all_names(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def _pairs(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    return _all_names(targets) and len(targets) == len(values)


def _single(target: ast.expr, value: ast.expr, node: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([target], value), node)


_TYPES = frozenset({"mazurka.model.Int", "mazurka.model.Bool", "mazurka.model.atomic"})

KNOWN = frozenset(CALLS) | _TYPES
"""The full names that models can use."""


def elaborate(
    source: str,
    file: str,
    definitions: Mapping[str, str] | None = None,
    *,
    max_threads: int = 8,
    max_depth: int = 8,
) -> Program:
    """Build the program of a model; ranges that are not declared are still to be inferred."""
    module = parse(source, file)
    try:
        understand_annotations(module, KNOWN, file)
        facts = survey(module)
        numbers = {name: _number(name, text) for name, text in (definitions or {}).items()}
        return _settle(module, source, file, facts, (max_threads, max_depth), numbers)
    except RecursionError:
        raise MazurkaError(
            "the model is nested too deeply; split long expressions and blocks", file=file
        ) from None


def _number(name: str, text: str) -> int:
    if text in ("True", "False"):
        return int(text == "True")
    try:
        number = int(text, 0)
    except ValueError:
        shown = shorten(text)
        raise OptionError(f"-D {name}={shown}: `{shown}` is no integer, True or False") from None
    if not fits(number):
        raise OptionError(f"-D {name}={shorten(text)}: the number does not fit in 64 bits")
    return number


def _settle(
    module: ast.Module,
    source: str,
    file: str,
    facts: ModelSurvey,
    limits: tuple[int, int],
    definitions: Mapping[str, int],
) -> Program:
    def build(expected: Expected) -> tuple[Expected, Callable[[], Program]]:
        count, escaping = expected.threads, expected.escaping
        model = Model(file, source, count, *limits, survey=facts, escaping=escaping, known=KNOWN)
        model.reserve(observers=len(facts.invariants), joined=facts.creates and facts.joins)
        declarations = Declarations(model, definitions)
        declarations.elaborate(module)
        built: list[Automaton] = []
        if facts.creates or len(model.plans) == count:
            # Building a thread may add threads at the end of the list.
            built = [_build(model, plan, declarations.main) for plan in model.plans]

        def assemble() -> Program:
            observers = [
                build_observer(model, count + position, invariant)
                for position, invariant in enumerate(model.invariants)
            ]
            constants = declarations.constants
            return model.assemble(model.plans, built, observers=observers, constants=constants)

        return Expected(len(model.plans), escaping | model.found_escaping), assemble

    return settle_threads(build, file)


def _build(model: Model, plan: FunctionThread, main: list[ast.stmt]) -> Automaton:
    body = main if plan.function is None else plan.function.body
    automaton = Automaton()
    low = Lowering(model, plan.number, automaton, lineage=plan.lineage)
    span = Span(model.file, (plan.function or body[0]).lineno) if body else plan.span
    automaton.begin(span)
    frame = _frame(model, plan, body)
    frame.exit = None if plan.function is None else automaton.new_label(span)
    _bind_arguments(low, plan, frame)
    low.frames.append(frame)
    for name in plan.arguments:
        low.mark_bound(name)
    low.execute(body)
    if frame.exit is not None:
        automaton.place(frame.exit, span)
    if low.reachable:
        finish(low, plan, span)
    return automaton


def _frame(model: Model, plan: FunctionThread, body: list[ast.stmt]) -> Activation:
    model.frames += 1
    facts = model.facts_of(plan.function) if plan.function else facts_of(body)
    name = plan.function.name if plan.function else "main"
    return Activation(model.frames, name, facts, is_module=plan.function is None)


def _bind_arguments(low: Lowering, plan: FunctionThread, frame: Activation) -> None:
    node = plan.function or ast.Pass(lineno=1, col_offset=0)
    if plan.function is not None and plan.function.decorator_list:
        raise low.refuse(plan.function, f"the decorators of `{frame.name}` are not supported")
    for name, value in plan.arguments.items():
        if isinstance(value, LocalVariable):
            # The creator writes the cell, so a variable that changes gets one of its own.
            bind_parameter(low, frame, name, value.fetch(), node)
        elif name in frame.facts.stores and isinstance(value, Number | Reference | ThreadHandle):
            cell = add_parameter_cell(low, name, value, plan.number, node, initial=True)
            frame.variables[name] = cell
        else:
            bind_parameter(low, frame, name, value, node)
