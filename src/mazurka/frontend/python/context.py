"""What elaboration knows: about the whole program, about one activation of a function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from mazurka.frontend.kit.automaton import Label
from mazurka.frontend.kit.shapes import Shape
from mazurka.frontend.kit.storage import Storage
from mazurka.frontend.python.survey import FunctionFacts, Survey, facts_of
from mazurka.frontend.python.values import Handle, Number, Reference, Value
from mazurka.ir.expressions import Const, Load
from mazurka.ir.program import Declaration, Role, Span

MOST_EDGES = 200_000


class NotStatic(Exception):  # noqa: N818 - a signal, not an error that users see
    """An expression at module level needs the program to run."""


@dataclass(frozen=True, slots=True)
class Options:
    max_threads: int = 8
    max_depth: int = 8


@dataclass(slots=True)
class Variable:
    """A local variable that lives in a cell of its own."""

    name: str
    cell: int
    role: Role
    target: Shape | None = None
    """For a pointer, the shape of what it points to."""
    shared: bool = True
    """For a pointer, whether what it points to is shared."""

    def fetch(self) -> Value:
        content = Load(Const(self.cell))
        if self.role is Role.POINTER:
            assert self.target is not None
            return Reference(self.target, content, self.shared, self.name)
        if self.role is Role.HANDLE:
            return Handle(content)
        return Number(content, self.role is Role.BOOL)


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function, inlined at its call."""

    number: int
    name: str
    facts: FunctionFacts
    exit: Label | None = None
    variables: dict[str, Variable | Value] = field(default_factory=dict)
    result: Variable | Value | None = None
    cleanups: int = 0
    """The height of the clean-up stack when the function was entered."""
    uncertain: int = 0
    """How many branches and loops surround the activation itself."""
    unrolled: int = 0
    """How many unrolled loops surround the activation itself."""

    is_module: bool = False
    """The frame of the module's own statements, whose names functions can see."""

    def key(self, name: str) -> str:
        return f"{self.number}.{name}"


@dataclass(eq=False, slots=True)
class ThreadPlan:
    """A thread of the program, before its automaton is built."""

    number: int
    name: str
    function: ast.FunctionDef | None
    """None for `main`, which runs the module's own statements."""
    arguments: Mapping[str, Variable | Value]
    span: Span
    active: bool = True
    lineage: frozenset[str] = frozenset()
    """The functions run by the threads that led to its creation, and its own."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that holds in every state."""

    node: ast.Call
    condition: ast.expr
    message: str


@dataclass(eq=False, slots=True)
class Model:
    """Everything about the program that its threads share while they are elaborated."""

    file: str
    source: str
    survey: Survey
    options: Options
    threads: int
    """How many threads there will be: found by elaborating until the number is right.  Those that
    watch invariants come behind them and are not counted."""
    escaping: frozenset[int]
    """Threads whose local objects other threads can reach."""
    known: frozenset[str]
    """The full names that models can use."""
    storage: Storage = field(default_factory=Storage)
    globals: dict[str, Value] = field(default_factory=dict)
    plans: list[ThreadPlan] = field(default_factory=list)
    found_escaping: set[int] = field(default_factory=set)
    status: int = 0
    """The address of the first thread's status cell; 0 where nobody joins."""
    making: list[str] = field(default_factory=list)
    """The classes of the records that are being made, outermost first."""
    edges: int = 0
    frames: int = 0
    facts: dict[int, FunctionFacts] = field(default_factory=dict)
    declared: dict[int, Declaration] = field(default_factory=dict)
    """What the model says about how threads share cells, by address."""
    invariants: list[Invariant] = field(default_factory=list)

    def facts_of(self, definition: ast.FunctionDef) -> FunctionFacts:
        if id(definition) not in self.facts:
            self.facts[id(definition)] = facts_of(definition.body)
        return self.facts[id(definition)]
