"""From a syntax tree to a program.

How many threads there are decides the size of some objects, and is known only once all code has
been seen.  So a model is elaborated until the number it was elaborated for is the number found.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.frontend.kit.automaton import Automaton, Label
from mazurka.frontend.python import (
    aggregates,
    assertions,
    calls,
    constructors,
    containers,
    invariants,
    loops,
    operations,
    protection,
    statements,
    sync_conditions,
    sync_counters,
    sync_locks,
    sync_queues,
    sync_rwlock,
)
from mazurka.frontend.python.annotations import understand_annotations
from mazurka.frontend.python.context import Frame, Model, Options, ThreadPlan, Variable
from mazurka.frontend.python.declarations import Declarations
from mazurka.frontend.python.invariants import build_observer
from mazurka.frontend.python.lowering import CALLS, Lowering
from mazurka.frontend.python.source import parse, shortened
from mazurka.frontend.python.survey import Survey, facts_of, survey
from mazurka.frontend.python.threads import DONE, parameter_cell
from mazurka.frontend.python.values import Handle, Number, Reference
from mazurka.frontend.python.variables import bind_parameter
from mazurka.ir.expressions import Const
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Kind,
    Program,
    Role,
    Span,
    Thread,
)

HANDLERS = (
    aggregates,
    assertions,
    calls,
    constructors,
    containers,
    invariants,
    loops,
    operations,
    protection,
    statements,
    sync_conditions,
    sync_counters,
    sync_locks,
    sync_queues,
    sync_rwlock,
)
"""Imported for what they register; together they are the language."""

_TYPES = frozenset({"mazurka.model.Int", "mazurka.model.Bool", "mazurka.model.atomic"})

KNOWN = frozenset(CALLS) | _TYPES
"""The full names that models can use."""

ROUNDS = 12


def elaborate(
    source: str,
    file: str,
    definitions: Mapping[str, str] | None = None,
    *,
    max_threads: int = 8,
    max_depth: int = 8,
) -> Program:
    """The program a model describes; ranges that are not declared are still to be inferred."""
    module = parse(source, file)
    try:
        understand_annotations(module, KNOWN, file)
        facts = survey(module)
        options = Options(max_threads, max_depth)
        numbers = {name: _number(name, text) for name, text in (definitions or {}).items()}
        return _settle(module, source, file, facts, options, numbers)
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
        shown = shortened(text)
        raise OptionError(f"-D {name}={shown}: `{shown}` is no integer, True or False") from None
    if not fits(number):
        raise OptionError(f"-D {name}={shortened(text)}: the number does not fit in 64 bits")
    return number


def _settle(
    module: ast.Module,
    source: str,
    file: str,
    facts: Survey,
    options: Options,
    definitions: Mapping[str, int],
) -> Program:
    threads, escaping = 1, frozenset[int]()
    for _ in range(ROUNDS):
        model = Model(file, source, facts, options, threads, escaping, KNOWN)
        _reserve(model)
        declarations = Declarations(model, definitions)
        declarations.elaborate(module)
        settled = facts.creates or len(model.plans) == threads
        if settled:
            built = _build_threads(model, declarations.main)
        found = escaping | model.found_escaping
        if settled and len(model.plans) == threads and found == escaping:
            return _program(model, built, declarations.constants)
        threads, escaping = len(model.plans), found
    raise MazurkaError("the number of threads does not settle; create them in one place", file=file)


def _reserve(model: Model) -> None:
    """The null cell, the program counters and, where threads are joined, their status."""
    storage = model.storage
    storage.add("null")
    for number in range(model.threads + len(model.survey.invariants)):
        storage.add(f"counter {number}", owner=number, role=Role.COUNTER)
    if model.survey.creates and model.survey.joins:
        model.status = len(storage.cells)
        for number in range(model.threads):
            storage.add(f"status {number}", high=DONE, role=Role.SYNC)


def _build_threads(model: Model, main: list[ast.stmt]) -> list[Automaton]:
    """Each thread's automaton; making one may add threads at the end of the list."""
    built = []
    for plan in model.plans:
        body = main if plan.function is None else plan.function.body
        built.append(_build(model, plan, body))
    return built


def _build(model: Model, plan: ThreadPlan, body: list[ast.stmt]) -> Automaton:
    automaton = Automaton()
    low = Lowering(model, plan.number, automaton, lineage=plan.lineage)
    span = Span(model.file, (plan.function or body[0]).lineno) if body else plan.span
    automaton.begin(span)
    frame = _frame(model, plan, body)
    frame.exit = None if plan.function is None else automaton.label(span)
    _bind_arguments(low, plan, frame)
    low.frames.append(frame)
    for name in plan.arguments:
        low.mark_bound(name)
    low.execute(body)
    if frame.exit is not None:
        automaton.place(frame.exit, span)
    if low.reachable:
        _finish(low, plan, span)
    return automaton


def _frame(model: Model, plan: ThreadPlan, body: list[ast.stmt]) -> Frame:
    model.frames += 1
    facts = model.facts_of(plan.function) if plan.function else facts_of(body)
    name = plan.function.name if plan.function else "main"
    return Frame(model.frames, name, facts, is_module=plan.function is None)


def _bind_arguments(low: Lowering, plan: ThreadPlan, frame: Frame) -> None:
    node = plan.function or ast.Pass(lineno=1, col_offset=0)
    if plan.function is not None and plan.function.decorator_list:
        raise low.refuse(plan.function, f"the decorators of `{frame.name}` are not supported")
    for name, value in plan.arguments.items():
        if isinstance(value, Variable):
            # The creator writes the cell, so a variable that changes gets one of its own.
            bind_parameter(low, frame, name, value.fetch(), node)
        elif name in frame.facts.stores and isinstance(value, Number | Reference | Handle):
            cell = parameter_cell(low, name, value, plan.number, node, initial=True)
            frame.variables[name] = cell
        else:
            bind_parameter(low, frame, name, value, node)


def _finish(low: Lowering, plan: ThreadPlan, span: Span) -> None:
    automaton = low.automaton
    assert automaton is not None
    end = Label(FINISHED)
    if plan.active or not low.model.status:
        automaton.jump(end, span)
        return
    done = Assign(Const(low.model.status + plan.number), Const(DONE))
    automaton.edge(Kind.EXIT, span, end, operations=(done,), atomic=True, text=f"end {plan.name}")
    automaton.current = None


def _program(model: Model, built: list[Automaton], constants: Mapping[str, int]) -> Program:
    titles = _unique([plan.name for plan in model.plans])
    threads = []
    for plan, automaton, title in zip(model.plans, built, titles, strict=True):
        threads.append(_thread(model, plan.number, title, automaton, active=plan.active))
        if model.status:
            model.storage.cells[model.status + plan.number].name = f"{title} status"
    for position, invariant in enumerate(model.invariants):
        automaton = build_observer(model, model.threads + position, invariant)
        title = f"invariant {position + 1}"
        threads.append(_thread(model, len(threads), title, automaton, observer=True))
    return Program(
        PurePath(model.file).stem,
        tuple(draft.finished() for draft in model.storage.cells),
        tuple(threads),
        dict(constants),
        {model.file: model.source},
        dict(model.declared),
    )


def _thread(
    model: Model,
    number: int,
    title: str,
    automaton: Automaton,
    *,
    active: bool = True,
    observer: bool = False,
) -> Thread:
    locations, edges = automaton.finished()
    draft = model.storage.cells[number + 1]
    draft.name, draft.high = f"{title} at", len(locations) - 1
    draft.initial = FIRST_LOCATION if active else IDLE
    return Thread(title, number + 1, FIRST_LOCATION, locations, edges, active, observer)


def _unique(names: list[str]) -> list[str]:
    """`worker`, `worker#2`: each name once."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result
