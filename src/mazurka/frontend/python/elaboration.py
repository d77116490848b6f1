"""Elaborate a syntax tree into a program: its module level, then its threads.

The module level has constants, shared variables and objects, and the `threads` list.  Statements
that are not declarations are kept, in order, for a thread called `main`.

How many threads there are decides the size of some objects, and is known only once all code has
been seen.  So a model is elaborated until the number it was elaborated for is the number found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.frontend.kit.program import Automaton, Expected, settle_threads
from mazurka.frontend.kit.shapes import Reference
from mazurka.frontend.kit.threads import finish
from mazurka.frontend.python import (  # noqa: F401 - handlers: together they are the language
    assertions,
    calls,
    loops,
    operations,
    protection,
    statements,
)
from mazurka.frontend.python.annotations import understand_annotations
from mazurka.frontend.python.assertions import build_observer
from mazurka.frontend.python.lowering import (
    CALLS,
    Activation,
    FunctionThread,
    LocalVariable,
    Lowering,
    Model,
)
from mazurka.frontend.python.module_level.declarations import Declarations
from mazurka.frontend.python.primitives import locks, queues, signals, threads  # noqa: F401
from mazurka.frontend.python.primitives.threads import add_parameter_cell
from mazurka.frontend.python.source import parse, shorten
from mazurka.frontend.python.survey import (
    ModelSurvey,
    facts_of,
    find_forgotten_globals,
    survey,
)
from mazurka.frontend.python.values import containers, objects  # noqa: F401
from mazurka.frontend.python.values.assignment import bind_parameter, point_to_parameter
from mazurka.frontend.python.values.kinds import (
    Number,
    ThreadHandle,
)
from mazurka.frontend.python.values.owned import is_record_value
from mazurka.ir.program import Program, Span

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
        program = _settle(module, source, file, facts, (max_threads, max_depth), numbers)
        return replace(program, remarks=tuple(find_forgotten_globals(module, facts)))
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
        if facts.creates or declarations.starts_late or len(model.plans) == count:
            # Building a thread may add threads at the end of the list.
            built = [_build(model, plan, declarations.main) for plan in model.plans]

        def assemble() -> Program:
            observers = [
                build_observer(model, count + position, invariant)
                for position, invariant in enumerate(model.invariants)
            ]
            constants = declarations.constants
            program = model.assemble(model.plans, built, observers=observers, constants=constants)
            return replace(program, formulas=tuple(model.formulas))

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
        elif (
            name in frame.facts.stores
            and isinstance(value, Number | Reference | ThreadHandle)
            and not is_record_value(low, value)
        ):
            cell = add_parameter_cell(low, name, value, plan.number, node, initial=True)
            frame.variables[name] = cell
        else:
            bind_parameter(low, frame, name, value, node)
        if plan.function is not None:
            point_to_parameter(low, frame, name, plan.function)
