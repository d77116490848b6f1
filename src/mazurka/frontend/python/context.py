"""What elaboration knows: about the whole program, about one activation of a function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from mazurka.frontend.kit.automaton import Label
from mazurka.frontend.kit.program import ProgramDraft, ThreadPlan
from mazurka.frontend.kit.shapes import Reference, Shape
from mazurka.frontend.python.survey import FunctionFacts, ModelSurvey, facts_of
from mazurka.frontend.python.values import Number, ThreadHandle, Value
from mazurka.ir.expressions import Const, Load
from mazurka.ir.program import Role


@dataclass(slots=True)
class LocalVariable:
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
            return ThreadHandle(content)
        return Number(content, self.role is Role.BOOL)


@dataclass(eq=False, slots=True)
class Activation:
    """One activation of a function, inlined at its call."""

    number: int
    name: str
    facts: FunctionFacts
    exit: Label | None = None
    variables: dict[str, LocalVariable | Value] = field(default_factory=dict)
    result: LocalVariable | Value | None = None
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
class FunctionThread(ThreadPlan):
    """A thread that runs a function of the model, or the module's own statements."""

    function: ast.FunctionDef | None = None
    """None for `main`, which runs the module's own statements."""
    arguments: Mapping[str, LocalVariable | Value] = field(default_factory=dict)
    lineage: frozenset[str] = frozenset()
    """The functions run by the threads that led to its creation, and its own."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that holds in every state."""

    node: ast.Call
    condition: ast.expr
    message: str


@dataclass(eq=False, slots=True, kw_only=True)
class Model(ProgramDraft):
    """A Python model while its threads are elaborated."""

    survey: ModelSurvey
    escaping: frozenset[int]
    """Threads whose local objects other threads can reach."""
    known: frozenset[str]
    """The full names that models can use."""
    globals: dict[str, Value] = field(default_factory=dict)
    plans: list[FunctionThread] = field(default_factory=list)
    found_escaping: set[int] = field(default_factory=set)
    making: list[str] = field(default_factory=list)
    """The classes of the records that are being made, outermost first."""
    frames: int = 0
    facts: dict[int, FunctionFacts] = field(default_factory=dict)
    invariants: list[Invariant] = field(default_factory=list)

    def facts_of(self, definition: ast.FunctionDef) -> FunctionFacts:
        if id(definition) not in self.facts:
            self.facts[id(definition)] = facts_of(definition.body)
        return self.facts[id(definition)]
