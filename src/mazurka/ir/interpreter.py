"""The reference interpreter: one step of one thread, exactly as `docs/semantics.md` says.

It is the oracle that the native code is tested against, and it replays every violation before
the violation is reported.  It is written to be read, not to be fast.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from mazurka.ir import arithmetic
from mazurka.ir.expressions import (
    DIVISIONS,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
)
from mazurka.ir.program import (
    FINISHED,
    IDLE,
    STOPPING,
    WRONG,
    Assign,
    Check,
    Edge,
    Fault,
    Mode,
    Program,
    Span,
)

State: TypeAlias = tuple[int, ...]

ATOMIC_LIMIT = 65_536
"""How many edges inside atomic sections one step may take."""


class Outcome(enum.StrEnum):
    MOVED = "moved"
    WAITS = "waits"
    STOPPED = "stopped"
    FINISHED = "finished"
    INVALID = "invalid"
    FAULT = "fault"


class Access(NamedTuple):
    """One read or write of a step; `edge` is the number of the edge that made it."""

    address: int
    value: int
    write: bool
    edge: int


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that was to be stored in a cell, but is outside the cell's range."""

    address: int
    value: int


@dataclass(frozen=True, slots=True)
class FaultReport:
    fault: Fault
    message: str
    span: Span
    edge: int
    misfit: Misfit | None = None


class Step(NamedTuple):
    """What a thread did, or why it could not move; then `state` is the old state."""

    thread: int
    outcome: Outcome
    state: State
    edges: tuple[int, ...]
    accesses: tuple[Access, ...]
    footprint_reads: frozenset[int]
    footprint_writes: frozenset[int]
    fault: FaultReport | None = None

    @property
    def happened(self) -> bool:
        return self.outcome is Outcome.MOVED or self.outcome is Outcome.FAULT


class _Failure(Exception):  # noqa: N818 - it is control flow, not an error
    def __init__(self, fault: Fault, message: str, misfit: Misfit | None = None) -> None:
        self.fault = fault
        self.message = message
        self.misfit = misfit


class StepRun:
    """The mutable state of one step."""

    def __init__(self, program: Program, state: State, thread: int, choice: int) -> None:
        self.program = program
        self.cells = list(state)
        self.thread = thread
        self.rest_of_choice = choice
        self.choice = 0
        self.edge = 0
        self.accesses: list[Access] = []
        self.watch = _Watch()

    def evaluate(self, expr: Expr) -> int:
        match expr:
            case Const(value):
                return value
            case Load(address):
                return self.load(self.evaluate(address))
            case Binary(operator, left, right):
                return self.binary(operator, self.evaluate(left), self.evaluate(right))
            case Unary(operator, operand):
                return arithmetic.UNARY[operator](self.evaluate(operand))
            case Conditional(test, then, otherwise):
                return self.evaluate(then if self.evaluate(test) else otherwise)
            case Element(base, index, length, stride):
                return self.element(self.evaluate(base), self.evaluate(index), length, stride)
            case Convert(operand, width, signed):
                return arithmetic.convert(self.evaluate(operand), width, signed)
            case Choice():
                return arithmetic.wrap(self.choice)

    def binary(self, operator: str, left: int, right: int) -> int:
        result = arithmetic.binary(operator, left, right)
        if result is not None:
            return result
        if operator in DIVISIONS:
            raise _Failure(Fault.EXCEPTION, "division by zero")
        raise _Failure(Fault.EXCEPTION, f"shift by {right}, which is outside 0..63")

    def element(self, base: int, index: int, length: int, stride: int) -> int:
        if not 0 <= index < length:
            name = self.array_name(base, length, stride)
            of_array = f" of `{name}`" if name else ""
            raise _Failure(Fault.INDEX, f"index {index} is outside 0..{length - 1}{of_array}")
        return arithmetic.wrap(base + index * stride)

    def array_name(self, base: int, length: int, stride: int) -> str:
        """Derive the name of an array from the names of its first and last element."""
        cells = self.program.cells
        if not 0 < base <= base + (length - 1) * stride < len(cells):
            return ""
        first, last = cells[base].name, cells[base + (length - 1) * stride].name
        if length == 1:
            return first.removesuffix("[0]") if first.count("[") == 1 else ""
        same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
        return "".join(letter for letter, _ in same).rpartition("[")[0]

    def load(self, address: int) -> int:
        self.require_cell(address, "read")
        value = self.cells[address]
        self.accesses.append(Access(address, value, False, self.edge))
        return value

    def store(self, address: int, value: int) -> None:
        self.require_cell(address, "written")
        cell = self.program.cells[address]
        if not cell.low <= value <= cell.high:
            message = f"`{cell.name}` would become {value}, outside {cell.low}..{cell.high}"
            raise _Failure(Fault.RANGE, message, Misfit(address, value))
        self.accesses.append(Access(address, value, True, self.edge))
        self.cells[address] = value

    def require_cell(self, address: int, how: str) -> None:
        if not 0 < address < len(self.cells):
            raise _Failure(Fault.MEMORY, f"a null or invalid reference is {how}")

    def take(self, edge: Edge) -> None:
        """Execute the operations of an edge whose guard holds."""
        self.choice = 0
        if edge.choices > 1:
            self.rest_of_choice, self.choice = divmod(self.rest_of_choice, edge.choices)
            self.watch.remembered = None  # another choice may be made next time
        for operation in edge.operations:
            match operation:
                case Assign(address, value):
                    target = self.evaluate(address)
                    self.store(target, self.evaluate(value))
                case Check(condition, fault, message):
                    if not self.evaluate(condition):
                        raise _Failure(fault, message)

    def enabled_edge(self, location: int) -> int | None:
        """Return the number of the edge whose guard holds at a location of this thread."""
        thread = self.program.threads[self.thread]
        first = self.program.first_edge[self.thread]
        for position in thread.outgoing[location]:
            self.edge = first + position
            guard = thread.edges[position].guard
            if guard is None or self.evaluate(guard):
                return self.edge
        return None

    def rest(self, location: int) -> State:
        thread = self.program.threads[self.thread]
        for address in thread.locations[location].resets:
            self.cells[address] = self.program.cells[address].initial
        self.cells[thread.counter] = location
        return tuple(self.cells)


class _Watch:
    """Detects a step that never ends: the same situation occurs twice inside atomic sections.

    A situation is remembered at the 1st, 2nd, 4th, 8th ... edge and compared with the later ones
    (Brent's method), so that a loop of any length is found within a few rounds.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.remembered: tuple[int, list[int]] | None = None

    def pass_by(self, location: int, cells: list[int]) -> None:
        self.passed += 1
        if self.remembered == (location, cells):
            raise _Failure(Fault.LIVELOCK, "the atomic section never ends")
        if self.passed > ATOMIC_LIMIT:
            raise _Failure(Fault.BOUND, f"an atomic section takes more than {ATOMIC_LIMIT:,} steps")
        if self.passed & (self.passed - 1) == 0:
            self.remembered = (location, cells.copy())


class Interpreter:
    """Executes a program step by step."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.counters = tuple(thread.counter for thread in program.threads)
        self.choice_bounds = tuple(
            find_choice_bounds(program, thread) for thread in range(len(program.threads))
        )

    def location(self, state: State, thread: int) -> int:
        return state[self.counters[thread]]

    def step(self, state: State, thread: int, choice: int = 0) -> Step:
        """Let a thread take one step from `state`, with the given choice."""
        return self.finish(StepRun(self.program, state, thread, choice), state)

    def finish(self, run: StepRun, state: State) -> Step:
        """Let a run, which stands at `state`, take its step."""
        taken: list[int] = []
        start = self.location(state, run.thread)
        try:
            outcome, location = self._walk(run, start, taken)
        except _Failure as failure:
            edge = self.program.edges[run.edge]
            report = FaultReport(
                failure.fault, failure.message, edge.span, run.edge, failure.misfit
            )
            if run.edge not in taken[-1:]:
                taken.append(run.edge)
            if run.rest_of_choice:
                return self._answer(run, Outcome.INVALID, state, [])
            return self._answer(run, Outcome.FAULT, run.rest(WRONG), taken, report)
        if run.rest_of_choice:
            return self._answer(run, Outcome.INVALID, state, [])
        if outcome is not Outcome.MOVED:
            return self._answer(run, outcome, state, [])
        return self._answer(run, outcome, run.rest(location), taken)

    def _walk(self, run: StepRun, start: int, taken: list[int]) -> tuple[Outcome, int]:
        """Follow edges from `start` until the thread comes to rest, is blocked, or fails."""
        thread = self.program.threads[run.thread]
        location = start
        while True:
            mode = thread.locations[location].mode
            if taken and mode is Mode.VISIBLE:
                return Outcome.MOVED, location
            if taken and mode is Mode.ATOMIC:
                run.watch.pass_by(location, run.cells)
            number = run.enabled_edge(location)
            if number is None:
                if taken and mode is Mode.MERGED:
                    return Outcome.MOVED, location
                return self._explain_block(run, location, start), start
            edge = self.program.edges[number]
            taken.append(number)
            run.take(edge)
            location = edge.target

    def _explain_block(self, run: StepRun, location: int, start: int) -> Outcome:
        thread = self.program.threads[run.thread]
        if location == IDLE:
            run.accesses.append(Access(thread.counter, IDLE, False, run.edge))
        if location in (IDLE, FINISHED) or (location == start and location in thread.ends):
            return Outcome.FINISHED
        if all(edge.kind in STOPPING for edge in thread.edges_at(location)):
            return Outcome.STOPPED
        return Outcome.WAITS

    def _answer(
        self,
        run: StepRun,
        outcome: Outcome,
        state: State,
        taken: Iterable[int],
        fault: FaultReport | None = None,
    ) -> Step:
        cells = self.program.cells
        counter = self.program.threads[run.thread].counter
        reads: set[int] = set()
        writes: set[int] = set()
        for address, _, write, _ in run.accesses:
            if cells[address].owner != run.thread or address == counter:
                (writes if write else reads).add(address)
        return Step(
            thread=run.thread,
            outcome=outcome,
            state=state,
            edges=tuple(taken),
            accesses=tuple(run.accesses),
            footprint_reads=frozenset(reads),
            footprint_writes=frozenset(writes),
            fault=fault,
        )

    def last_tried_edge(self, state: State, thread: int, choice: int = 0) -> int | None:
        """Return the number of the edge whose guard a step evaluates last; None if it has none."""
        run = StepRun(self.program, state, thread, choice)
        run.edge = -1
        self.finish(run, state)
        return None if run.edge < 0 else run.edge

    def value(
        self, state: State, thread: int, expr: Expr, run: type[StepRun] = StepRun
    ) -> int | None:
        """Evaluate an expression for a thread in a state; None if that fails."""
        try:
            return run(self.program, state, thread, 0).evaluate(expr)
        except _Failure:
            return None

    def choices(self, state: State, thread: int) -> int:
        """Return how many choice numbers have to be tried for this thread."""
        return self.choice_bounds[thread][state[self.counters[thread]]]

    def steps(self, state: State) -> Iterator[tuple[int, Step]]:
        """Iterate over the steps of all threads, with choice numbers; blocked threads included."""
        for thread in range(len(self.program.threads)):
            yield from self.steps_of(state, thread)

    def steps_of(self, state: State, thread: int) -> Iterator[tuple[int, Step]]:
        """A thread's steps with their choice numbers, those that cannot move included."""
        for choice in range(self.choice_bounds[thread][state[self.counters[thread]]]):
            step = self.step(state, thread, choice)
            if step.outcome is not Outcome.INVALID:
                yield choice, step


ENDLESS = 2**200
"""As many choices has a step that may choose again and again."""


def find_choice_bounds(program: Program, thread: int) -> tuple[int, ...]:
    """Return for each location the largest product of choices along any step from there."""
    key = "_choice_bounds"
    cache: dict[int, tuple[int, ...]] = program.__dict__.setdefault(key, {})
    if thread not in cache:
        cache[thread] = _compute_choice_bounds(program, thread)
    return cache[thread]


def _compute_choice_bounds(program: Program, thread: int) -> tuple[int, ...]:
    automaton = program.threads[thread]
    inside: dict[int, int] = {}

    def beyond(location: int) -> int:
        """Return the factor contributed after arriving at `location` within a step."""
        if automaton.locations[location].mode is not Mode.ATOMIC:
            return 1
        return inside.get(location, 1)

    edges = [
        edge for edge in automaton.edges if automaton.locations[edge.source].mode is Mode.ATOMIC
    ]
    changed = True
    while changed:
        changed = False
        for edge in edges:
            product = min(edge.choices * beyond(edge.target), ENDLESS)
            if product > inside.get(edge.source, 1):
                inside[edge.source] = product
                changed = True
    bounds = [1] * len(automaton.locations)
    for edge in automaton.edges:
        bounds[edge.source] = max(bounds[edge.source], edge.choices * beyond(edge.target))
    return tuple(bounds)
