"""Run module-level code while elaborating: what happens before the threads start.

Python runs the statements of a module in order.  Those above the `threads` list run alone, so
their effect does not depend on any schedule, and it becomes part of the initial state: the code is
lowered as any other, the reference interpreter runs it on the first values of all cells, and what
the cells hold afterwards are their first values from then on.

That is done only where the run can be *foreseen*: it ends, without a fault, a choice or a wait,
creates no thread, and leaves no lock in the hands of the thread that took it.  Then the run is the
only one the program has up to this point, and no state of it is a deadlock or a violation, so
nothing is lost by beginning behind it.  Everything else is left to the thread `main`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mazurka.errors import UnsupportedError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.program import Automaton, Label
from mazurka.frontend.kit.shapes import Blueprint, CellDraft, NumberShape, Reference
from mazurka.frontend.python.lowering import (
    Activation,
    LocalParts,
    LocalVariable,
    Lowering,
    Model,
)
from mazurka.frontend.python.source import span_of
from mazurka.frontend.python.statements import declare_range
from mazurka.frontend.python.survey import FunctionFacts, facts_of
from mazurka.frontend.python.values.assignment import bind_cell
from mazurka.frontend.python.values.kinds import (
    Closure,
    Draft,
    DraftField,
    Guard,
    Interval,
    Method,
    Number,
    ThreadCall,
    ThreadHandle,
    Value,
)
from mazurka.frontend.python.values.kinds import Sequence as ItemSequence
from mazurka.frontend.python.values.owned import is_tuple_value, own_value
from mazurka.ir import arithmetic
from mazurka.ir.expressions import Const, Expr, Unary
from mazurka.ir.interpreter import Access, Interpreter, Outcome, State, StepRun
from mazurka.ir.program import FINISHED, FIRST_LOCATION, Edge, Kind, Program, Role, Thread

MOST_STEPS = 50_000
"""Code that takes longer is left to `main`."""

NUMBER = 0
"""The number of the thread that runs the code: the only one at this time."""

TOO_LARGE = "a number computed here does not fit in 64 bits"
SMALLEST, LARGEST = -(2**63), 2**63 - 1

_OF_THREADS = frozenset({Kind.CREATE, Kind.JOIN, Kind.EXIT})
_HELD = frozenset(
    {
        Kind.ACQUIRE,
        Kind.TRY_ACQUIRE,
        Kind.RELEASE,
        Kind.WAIT,
        Kind.WAKE,
        Kind.NOTIFY,
        Kind.ARRIVE,
        Kind.LEAVE,
    }
)
"""Operations that note in the object which thread did them."""


@dataclass
class Foreseen:
    """What a piece of code gave: its value, and the variables that it assigned."""

    value: Value | None
    variables: dict[str, Value] = field(default_factory=dict)
    ranges: dict[str, NumberShape] = field(default_factory=dict)
    """The ranges that are declared for variables."""


def foresee(
    model: Model,
    body: Sequence[ast.stmt],
    carried: Mapping[str, Value],
    node: ast.AST,
    action: Callable[[Lowering], Value | None],
    ranges: Mapping[str, NumberShape] = MappingProxyType({}),
) -> Foreseen | None:
    """Do something at module level now; None, with nothing changed, if it cannot be foreseen.

    `body` is the code, for what it does with names; `carried` are variables that it assigns and
    that have a value already, `ranges` those that were declared for them.
    """
    before = _Before(model)
    run = _Run(model, body, node)
    for name, value in carried.items():
        model.globals.pop(name)
        run.bind(name, value, ranges.get(name))
    try:
        foreseen = run.finish(action(run.low), before.cells, before.plans)
    except NotStatic:
        foreseen = None
    before.restore()
    if foreseen is None:
        model.globals.update(carried)
        return None
    for address, number in run.changed.items():
        model.storage.cells[address].initial = number
    return foreseen


class _Before:
    """What a model had before the code was lowered."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.cells = len(model.storage.cells)
        self.plans = len(model.plans)
        self.edges = model.edges
        self.escaping = set(model.found_escaping)

    def restore(self) -> None:
        model = self.model
        del model.storage.cells[self.cells :], model.plans[self.plans :]
        model.edges = self.edges
        model.found_escaping = self.escaping
        model.making.clear()


def _facts_of(body: Sequence[ast.stmt]) -> FunctionFacts:
    """What the code does with names; the statements that follow may read all that it assigns."""
    facts = facts_of(body)
    return replace(facts, loads_outside_loops=frozenset(facts.stores))


class _Run:
    """One piece of code, lowered for a thread of its own and run to its end."""

    def __init__(self, model: Model, body: Sequence[ast.stmt], node: ast.AST) -> None:
        self.model = model
        self.span = span_of(node, model.file)
        self.automaton = Automaton()
        self.low = Lowering(model, NUMBER, self.automaton)
        self.changed: dict[int, int] = {}
        self.written: set[int] = set()
        self.automaton.begin(self.span)
        self.node = node
        model.frames += 1
        frame = Activation(model.frames, "main", _facts_of(body), is_module=True)
        self.low.frames.append(frame)

    def bind(self, name: str, value: Value, shape: NumberShape | None) -> None:
        """Give a variable the value that it has, and the range that was declared for it."""
        if shape is not None:
            declare_range(self.low, name, shape, self.node)
        if is_tuple_value(value):
            own_value(self.low, name, value, self.node)
        else:
            bind_cell(self.low, name, value, self.node)

    def finish(self, value: Value | None, cells: int, plans: int) -> Foreseen | None:
        if len(self.model.plans) != plans or not self.low.reachable:
            return None
        self.automaton.jump(Label(FINISHED), self.span)
        program = self._program()
        interpreter = Interpreter(program)
        try:
            state = self._run(interpreter)
            return None if state is None else self._conclude(interpreter, state, value, cells)
        except OverflowError as error:
            raise UnsupportedError.at(self.span, str(error)) from None
        except NotStatic:
            return None

    def _conclude(
        self, interpreter: Interpreter, state: State, value: Value | None, cells: int
    ) -> Foreseen:
        program = interpreter.program
        self.changed = {
            address: number
            for address, number in enumerate(state[:cells])
            if number != program.cells[address].initial
        }
        resolver = _Resolver(interpreter, state, cells)
        result = None if value is None else resolver.resolve(value)
        return Foreseen(result, self._variables(resolver), self._ranges())

    def _program(self) -> Program:
        storage = self.model.storage
        locations, edges = self.automaton.finish("main")
        last = len(locations) - 1
        counter = storage.add(CellDraft("at", 0, last, FIRST_LOCATION, NUMBER, Role.COUNTER))
        cells = tuple(
            replace(cell, low=SMALLEST, high=LARGEST) if cell.inferred else cell
            for cell in (draft.finish() for draft in storage.cells)
        )
        thread = Thread("main", counter, FIRST_LOCATION, locations, edges, True, False)
        return Program("module", cells, (thread,), {}, {self.model.file: self.model.source}, {})

    def _run(self, interpreter: Interpreter) -> State | None:
        """Run to the end; None if that cannot be foreseen."""
        program = interpreter.program
        first = state = program.initial_state()
        held: set[int] = set()
        for _ in range(MOST_STEPS):
            step = interpreter.finish(_ExactRun(program, state, NUMBER, 0), state)
            if step.outcome is Outcome.FINISHED:
                return None if any(state[cell] != first[cell] for cell in held) else state
            taken = [program.edges[edge] for edge in step.edges]
            if step.outcome is not Outcome.MOVED or any(map(_is_uncertain, taken)):
                return None
            writes: list[Access] = [access for access in step.accesses if access.write]
            self.written |= {access.address for access in writes}
            held |= {a.address for a in writes if program.edges[a.edge].kind in _HELD}
            state = step.state
        return None

    def _variables(self, resolver: _Resolver) -> dict[str, Value]:
        """The variables that surely have a value now."""
        low, found = self.low, {}
        for name, value in low.frame.variables.items():
            if isinstance(value, LocalVariable | LocalParts):
                parts = value.parts if isinstance(value, LocalParts) else (value,)
                if all(part.cell in self.written for part in parts):
                    found[name] = resolver.resolve(value.fetch())
            elif low.frame.key(name) in self.automaton.bound:
                found[name] = resolver.resolve(value)
        return found

    def _ranges(self) -> dict[str, NumberShape]:
        """The ranges that the code, or code before it, has declared for variables."""
        found: dict[str, NumberShape] = {}
        for name, variable in self.low.frame.variables.items():
            if isinstance(variable, LocalVariable) and variable.role in (Role.INT, Role.BOOL):
                cell = self.model.storage.cells[variable.cell]
                if not cell.inferred:
                    found[name] = NumberShape(cell.low, cell.high, cell.role, inferred=False)
        return found


def _is_uncertain(edge: Edge) -> bool:
    """Whether a step has other ways to go, or concerns other threads."""
    return edge.choices > 1 or edge.kind in _OF_THREADS


class _ExactRun(StepRun):
    """A step that refuses arithmetic beyond 64 bits, which Python does not wrap around."""

    def evaluate(self, expr: Expr) -> int:
        number = super().evaluate(expr)
        if isinstance(expr, Unary) and expr.operator in ("neg", "abs") and number == SMALLEST:
            raise OverflowError(TOO_LARGE)
        return number

    def binary(self, operator: str, left: int, right: int) -> int:
        number = super().binary(operator, left, right)
        exact = arithmetic.EXACT.get(operator)
        if exact is not None and not fits(exact(left, right)):
            raise OverflowError(TOO_LARGE)
        return number


@dataclass
class _Resolver:
    """Replaces expressions by the values that they have after the run."""

    interpreter: Interpreter
    state: State
    cells: int
    """How many cells there were before the run: what it made itself does not stay."""

    def resolve(self, value: Value) -> Value:
        match value:
            case Number(expr, boolean):
                return Number(self._constant(expr), boolean)
            case Reference(shape, address, shared, title):
                place = self._constant(address)
                if place.value >= self.cells:
                    raise NotStatic
                return Reference(shape, place, shared, title)
            case ItemSequence(items, growing, None, is_tuple):
                resolved = [self.resolve(item) for item in items]
                return ItemSequence(resolved, growing, is_tuple=is_tuple)
            case Interval(start, stop, step):
                return Interval(self._constant(start), self._constant(stop), step)
            case ThreadCall(function, arguments):
                found = {name: self.resolve(given) for name, given in arguments.items()}
                return ThreadCall(function, found)
            case Blueprint(shape, initials):
                return Blueprint(shape, tuple(self._constant(expr) for expr in initials))
            case ItemSequence() | ThreadHandle() | Method() | Guard():
                raise NotStatic
            case Draft() | DraftField() | Closure():
                raise NotStatic
            case _:  # functions, types, None: they do not depend on any state
                return value

    def _constant(self, expr: Expr) -> Const:
        if isinstance(expr, Const):
            return expr
        number = self.interpreter.value(self.state, NUMBER, expr, _ExactRun)
        if number is None:
            raise NotStatic
        return Const(number)
