"""Turn one thread's Python code into edges: the state of that work and its basic moves.

`Model` is what is known about the whole program, `Activation` about one call of a function, and
`Lowering` about one thread.

Which syntax is handled where: modules register their handlers here (`expression`, `statement`,
`callable_name`), so that expressions, statements and calls, which need one another, need not
import one another.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mazurka.errors import UnsupportedError
from mazurka.frontend.kit.builder import ThreadBuilder
from mazurka.frontend.kit.program import Label, ProgramDraft, ThreadPlan
from mazurka.frontend.kit.shapes import Blueprint, NumberShape, RecordShape, Reference, Shape
from mazurka.frontend.python.source import span_of
from mazurka.frontend.python.survey import FunctionFacts, ModelSurvey, facts_of, find_call_name
from mazurka.frontend.python.values.kinds import Number, ThreadHandle, Value, explain_no_number
from mazurka.frontend.python.values.kinds import Sequence as ItemSequence
from mazurka.ir.expressions import Const, Expr, Load
from mazurka.ir.program import DeclaredFormula, Role, Span


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


@dataclass(slots=True)
class LocalParts:
    """A local variable that holds a frozen record or a tuple of numbers, in cells of its own."""

    name: str
    parts: tuple[LocalVariable, ...]
    record: RecordShape | None = None
    """What the record is; None for a tuple."""

    def fetch(self) -> Value:
        if self.record is not None:
            return Reference(self.record, Const(self.parts[0].cell), False, self.name)
        return ItemSequence([part.fetch() for part in self.parts], is_tuple=True)

    def fits(self, value: Value) -> bool:
        """Whether a record or tuple is of the kind that the cells are for."""
        match value:
            case Blueprint(shape) | Reference(shape):
                return shape == self.record
            case ItemSequence(items):
                return self.record is None and len(items) == len(self.parts)
            case _:
                return False


@dataclass(eq=False, slots=True)
class Activation:
    """One activation of a function, inlined at its call."""

    number: int
    name: str
    facts: FunctionFacts
    exit: Label | None = None
    variables: dict[str, LocalVariable | LocalParts | Value] = field(default_factory=dict)
    result: LocalVariable | LocalParts | Value | None = None
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
    later: dict[str, int] = field(default_factory=dict)
    """The lines of functions and classes that the module defines somewhere."""
    assigned: dict[str, int] = field(default_factory=dict)
    """The line where each variable of the module is first assigned."""
    making: list[str] = field(default_factory=list)
    """The classes of the records that are being made, outermost first."""
    frames: int = 0
    facts: dict[int, FunctionFacts] = field(default_factory=dict)
    invariants: list[Invariant] = field(default_factory=list)
    formulas: list[DeclaredFormula] = field(default_factory=list)
    defaults: dict[int, Value] = field(default_factory=dict)
    """What defaults were worth at their `def` or `class`, by the identity of the expression."""
    ranges: dict[int, NumberShape] = field(default_factory=dict)
    """What ranges of parameters and fields were then, by the identity of the annotation."""

    def facts_of(self, definition: ast.FunctionDef) -> FunctionFacts:
        if id(definition) not in self.facts:
            self.facts[id(definition)] = facts_of(definition.body)
        return self.facts[id(definition)]


Node = TypeVar("Node", bound=ast.AST)

EXPRESSIONS: dict[type[ast.AST], Callable[[Lowering, ast.AST], Value]] = {}
STATEMENTS: dict[type[ast.AST], Callable[[Lowering, ast.AST], None]] = {}
CALLS: dict[str, Callable[[Lowering, ast.Call], Value]] = {}


def expression(
    kind: type[Node],
) -> Callable[[Callable[[Lowering, Node], Value]], Callable[[Lowering, Node], Value]]:
    """Register what evaluates one sort of expression."""

    def register(handler: Callable[[Lowering, Node], Value]) -> Callable[[Lowering, Node], Value]:
        EXPRESSIONS[kind] = handler  # type: ignore[assignment]
        return handler

    return register


def statement(
    kind: type[Node],
) -> Callable[[Callable[[Lowering, Node], None]], Callable[[Lowering, Node], None]]:
    """Register what lowers one sort of statement."""

    def register(handler: Callable[[Lowering, Node], None]) -> Callable[[Lowering, Node], None]:
        STATEMENTS[kind] = handler  # type: ignore[assignment]
        return handler

    return register


Caller = Callable[["Lowering", ast.Call], Value]


def callable_name(*paths: str) -> Callable[[Caller], Caller]:
    """Register what calling something from a module does, by its full name."""

    def register(handler: Caller) -> Caller:
        for path in paths:
            CALLS[path] = handler
        return handler

    return register


@dataclass(eq=False, slots=True)
class Loop:
    """Where `break` and `continue` lead."""

    after: Label
    again: Label
    cleanups: int


@dataclass(eq=False, slots=True)
class Lowering(ThreadBuilder):
    """One thread's Python code on its way to an automaton."""

    program: Model
    frames: list[Activation] = field(default_factory=list)
    lineage: frozenset[str] = frozenset()
    """The functions run by the threads that led to this one's creation, and its own."""
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    """What leaves the blocks around the code, the innermost last."""
    loops: list[Loop] = field(default_factory=list)
    atomic_loops: int = 0
    """The loop depth where the atomic section began."""
    uncertain: int = 0
    """Branches and loops around the code that may or may not be taken."""
    unrolled: int = 0
    settled: bool = False
    """Without an automaton: shared data hold their first values, since nothing has run yet."""
    early: int = 0
    """How many of these values have been read."""
    moment: int = 0
    """In `main`, the line of the module's own statement that runs."""
    overlay: dict[str, Value] = field(default_factory=dict)
    """The variables of comprehensions around the expression."""
    direct: int | None = None
    """Where reads stay in the expression (a guard), how many there have been."""

    # --- errors and places -----------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        return span_of(node, self.program.file)

    def refuse(self, node: ast.AST, message: str) -> UnsupportedError:
        """Make the error for a construct that is not supported; the caller raises it."""
        return UnsupportedError.at(self.span(node), message)

    def refuse_no_number(self, node: ast.AST, value: Value) -> UnsupportedError:
        """Make the error for something else where a number is needed."""
        explained = explain_no_number(value, ast.unparse(node))
        return self.refuse(node, f"{explained}{self.advise_on_select(node)}")

    def advise_on_select(self, node: ast.AST) -> str:
        """Advise on a name that was meant for an item alone, for the end of a message."""
        name = ast.unparse(node)
        calls = self.program.survey.named_calls.get(name, ())
        if {find_call_name(call) for call in calls} != {"select"}:
            return ""
        pair = f"which, {name} = {ast.unparse(calls[0])}"
        return f"; `select` gives the position of the queue, too: `{pair}`"

    # --- evaluation ------------------------------------------------------------------------

    def designate(self, node: ast.AST) -> Value:
        """Find what an expression denotes; a shared number is not read yet."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refuse(node, refuse_syntax(node))
        return handler(self, node)

    def value(self, node: ast.AST) -> Value:
        """Evaluate an expression; numbers are read."""
        value = self.designate(node)
        if isinstance(value, Reference) and isinstance(value.shape, NumberShape):
            return self.read(value, node)
        return value

    def number_of(self, node: ast.AST) -> Expr:
        """Evaluate an expression that must be a number."""
        value = self.value(node)
        if not isinstance(value, Number):
            raise self.refuse_no_number(node, value)
        return value.expr

    def constant(self, node: ast.AST, what: str) -> int:
        """Evaluate an expression that must be a constant; `what` names it in the error."""
        expr = self.number_of(node)
        if not isinstance(expr, Const):
            raise self.refuse(node, f"{what} must be a constant; `{ast.unparse(node)}` is not")
        return expr.value

    def read(self, place: Reference, node: ast.AST) -> Number:
        """Read the number at a place, in a step of its own unless it is part of a guard."""
        boolean = isinstance(place.shape, NumberShape) and place.shape.role is Role.BOOL
        if self.direct is not None:
            self.direct += 1
            return Number(Load(place.address), boolean)
        if self.settled and self.automaton is None and isinstance(place.address, Const):
            self.early += 1
            cell = self.program.storage.cells[place.address.value]
            return Number(Const(cell.initial), boolean)
        return Number(self.load(place, self.span(node)), boolean)

    def branch_at(self, node: ast.AST, test: Expr, true: Label, false: Label) -> None:
        """Go to one of two labels; `node` is the condition as it was written."""
        self.branch(test, self.span(node), ast.unparse(node)[:80], true, false)

    # --- variables -------------------------------------------------------------------------

    @property
    def frame(self) -> Activation:
        return self.frames[-1]

    @property
    def certain(self) -> bool:
        """Whether the code runs exactly once in its activation if it is reached at all."""
        return self.uncertain == self.frame.uncertain

    def mark_bound(self, name: str) -> None:
        if self.automaton is not None:
            self.automaton.bound |= {self.frame.key(name)}

    def is_bound(self, name: str) -> bool:
        return self.automaton is None or self.frame.key(name) in self.automaton.bound

    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements one after the other, up to where control ends."""
        for node in body:
            if not self.reachable:
                return
            handler = STATEMENTS.get(type(node))
            if handler is None:
                raise self.refuse(node, refuse_syntax(node))
            if self.frame.is_module and len(self.frames) == 1:
                self.moment = getattr(node, "lineno", 0)
            mark = len(self.held)
            handler(self, node)
            if not isinstance(node, ast.Return):
                self.release(mark)


_ADVICE: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda; write a function (a lambda is allowed in `wait_for` only)",
    ast.JoinedStr: "an f-string; only the message of an `assert` may be one",
    ast.Dict: "a dictionary; use an Array",
    ast.Set: "a set; use an Array of Bool",
    ast.DictComp: "a dictionary; use an Array",
    ast.SetComp: "a set; use an Array of Bool",
    ast.GeneratorExp: "a generator; use a list or a loop",
    ast.NamedExpr: "`:=`; assign on a line of its own (instead of `while (x := f()):` write"
    " `while True:`, then `x = f()`, then `if not x: break`)",
    ast.Await: "`await`; models are about threads, not coroutines",
    ast.Yield: "`yield`; use `yield_()` to let other threads run",
    ast.YieldFrom: "`yield from`; models have no generators",
    ast.Starred: "a starred expression; write the items out",
    ast.Slice: "a slice; use a loop over indexes",
    ast.TryStar: "`except*`; test with `if` beforehand (an exception is a violation)",
    ast.Raise: '`raise`; use `assert False, "message"`',
    ast.Delete: "`del`; variables need not be deleted",
    ast.Nonlocal: "`nonlocal`; use a module-level variable and `global`",
    ast.FunctionDef: "a function inside a function; define it at module level",
    ast.ClassDef: "a class inside a function; define it at module level",
    ast.AsyncFunctionDef: "`async def`; models are about threads, not coroutines",
    ast.AsyncFor: "`async for`; models are about threads, not coroutines",
    ast.AsyncWith: "`async with`; models are about threads, not coroutines",
    ast.Match: "`match`; use if/elif/else",
    ast.Import: "an import inside a function; import at the top of the file",
    ast.ImportFrom: "an import inside a function; import at the top of the file",
}


def refuse_syntax(node: ast.AST) -> str:
    """Say that models cannot contain this, and what to write instead where that is known."""
    shown = f"this statement ({type(node).__name__})"
    if not isinstance(node, ast.stmt):
        shown = f"`{ast.unparse(node)}`"
    return f"models cannot contain {_ADVICE.get(type(node)) or shown}"
