"""Turning one thread's code into edges: the state of that work and its basic moves.

Which syntax is handled where: modules register their handlers here (`expression`, `statement`,
`callable_name`), so that expressions, statements and calls, which need one another, need not
import one another.  Without an automaton the same code evaluates module-level expressions; an
edge would then be needed only where the value is not static, which `NotStatic` reports.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mazurka.errors import UnsupportedError
from mazurka.frontend.kit.automaton import Automaton, Label
from mazurka.frontend.kit.shapes import NumberShape
from mazurka.frontend.python.context import MOST_EDGES, Frame, Model, NotStatic
from mazurka.frontend.python.values import Number, Reference, Value, no_number
from mazurka.ir.expressions import Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span

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
class Lowering:
    model: Model
    number: int
    """The number of the acting thread."""
    automaton: Automaton | None
    frames: list[Frame] = field(default_factory=list)
    lineage: frozenset[str] = frozenset()
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    loop_depth: int = 0
    """Loops around the code, in every function on the way: what is inside may run often."""
    atomic_loops: int = 0
    """The loop depth where the atomic section began."""
    uncertain: int = 0
    """Branches and loops around the code that may or may not be taken."""
    unrolled: int = 0
    collecting: bool = False
    """Evaluating the `threads` list: calls make threads."""
    overlay: dict[str, Value] = field(default_factory=dict)
    """The variables of comprehensions around the expression."""
    direct: int | None = None
    """Where reads stay in the expression (a guard), how many there have been."""
    held: list[tuple[Role, int]] = field(default_factory=list)
    free: dict[Role, list[int]] = field(default_factory=dict)

    # --- errors and places -----------------------------------------------------------------

    def span(self, node: ast.AST) -> Span:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1)
        return Span(self.model.file, line, column + 1)

    def refuse(self, node: ast.AST, message: str) -> UnsupportedError:
        """The error for a construct that is not supported, for the caller to raise."""
        line = getattr(node, "lineno", None)
        return UnsupportedError(message, file=self.model.file, line=line)

    # --- evaluation ------------------------------------------------------------------------

    def designate(self, node: ast.AST) -> Value:
        """What an expression denotes; a shared number is not read yet."""
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            raise self.refuse(node, unsupported_expression(node))
        return handler(self, node)

    def value(self, node: ast.AST) -> Value:
        """What an expression denotes; numbers are read."""
        value = self.designate(node)
        if isinstance(value, Reference) and isinstance(value.shape, NumberShape):
            return self.read(value, node)
        return value

    def number_of(self, node: ast.AST) -> Expr:
        """An expression that must be a number."""
        value = self.value(node)
        if not isinstance(value, Number):
            raise self.refuse(node, no_number(value, ast.unparse(node)))
        return value.expr

    def constant(self, node: ast.AST, what: str) -> int:
        """An expression that must be a number known before the program runs."""
        expr = self.number_of(node)
        if not isinstance(expr, Const):
            raise self.refuse(node, f"{what} must be a constant; `{ast.unparse(node)}` is not")
        return expr.value

    def read(self, place: Reference, node: ast.AST) -> Number:
        boolean = isinstance(place.shape, NumberShape) and place.shape.role is Role.BOOL
        if self.direct is not None:
            self.direct += 1
            return Number(Load(place.address), boolean)
        cell = self.temporary(Role.BOOL if boolean else Role.INT, node)
        self.step(
            Kind.ACCESS if place.shared else Kind.LOCAL,
            node,
            f"read {place.title}",
            operations=(Assign(Const(cell), Load(place.address)),),
        )
        return Number(Load(Const(cell)), boolean)

    def write(self, place: Reference, value: Expr, node: ast.AST) -> None:
        self.step(
            Kind.ACCESS if place.shared else Kind.LOCAL,
            node,
            f"write {place.title}",
            operations=(Assign(place.address, value),),
        )

    # --- edges -----------------------------------------------------------------------------

    def building(self, node: ast.AST) -> Automaton:
        """The automaton; at module level there is none."""
        if self.automaton is None:
            raise NotStatic(getattr(node, "lineno", 0))
        return self.automaton

    @property
    def reachable(self) -> bool:
        return self.automaton is None or self.automaton.current is not None

    def edge(
        self,
        kind: Kind,
        node: ast.AST,
        text: str,
        target: Label,
        *,
        guard: Expr | None = None,
        operations: Sequence[Operation] = (),
        choices: int = 1,
        atomic: bool = False,
        subject: Expr | None = None,
    ) -> None:
        self.model.edges += 1
        if self.model.edges > MOST_EDGES:
            raise self.refuse(
                node,
                f"the model becomes larger than {MOST_EDGES:,} edges once its calls are inlined;"
                " use fewer threads, less recursion (--max-depth) or loops instead of repeated"
                " calls",
            )
        self.building(node).edge(
            kind,
            self.span(node),
            target,
            guard=guard,
            operations=operations,
            choices=choices,
            atomic=atomic,
            subject=subject,
            text=text,
        )

    def step(
        self,
        kind: Kind,
        node: ast.AST,
        text: str,
        *,
        guard: Expr | None = None,
        operations: Sequence[Operation] = (),
        choices: int = 1,
        atomic: bool = False,
        subject: Expr | None = None,
    ) -> None:
        """One edge; go on behind it."""
        self.ways(
            kind,
            node,
            text,
            [(guard, operations)],
            choices=choices,
            atomic=atomic,
            subject=subject,
        )

    def ways(
        self,
        kind: Kind,
        node: ast.AST,
        text: str,
        ways: Iterable[tuple[Expr | None, Sequence[Operation]]],
        *,
        choices: int = 1,
        atomic: bool = False,
        subject: Expr | None = None,
    ) -> None:
        """Edges with exclusive guards to one place; go on there."""
        automaton = self.building(node)
        target = automaton.label(self.span(node))
        for guard, operations in ways:
            self.edge(
                kind,
                node,
                text,
                target,
                guard=guard,
                operations=operations,
                choices=choices,
                atomic=atomic,
                subject=subject,
            )
        automaton.current = None
        automaton.place(target, self.span(node))

    def branch(self, test: Expr, node: ast.AST, true: Label, false: Label) -> None:
        """Go to one of two labels; a constant leaves one way only."""
        automaton = self.building(node)
        if isinstance(test, Const):
            automaton.jump(true if test.value else false, self.span(node))
            return
        text = f"{ast.unparse(node)}"[:80]
        self.edge(Kind.LOCAL, node, text, true, guard=test)
        self.edge(Kind.LOCAL, node, f"not ({text})", false, guard=negate(test))
        automaton.current = None

    def fail(self, fault: Fault, message: str, node: ast.AST) -> None:
        """A step that goes wrong; control does not go on behind it."""
        self.step(Kind.LOCAL, node, message, operations=(Check(Const(0), fault, message),))
        self.building(node).current = None

    # --- cells -----------------------------------------------------------------------------

    def local_cell(self, name: str, node: ast.AST, role: Role = Role.INT) -> int:
        """A new cell of this thread; its range is inferred."""
        self.building(node)
        return self.model.storage.add(
            name, owner=self.number, role=role, inferred=True, span=self.span(node)
        )

    def temporary(self, role: Role, node: ast.AST) -> int:
        """A cell of this thread until the statement ends."""
        spare = self.free.setdefault(role, [])
        cell = spare.pop() if spare else self.local_cell("temporary", node, role)
        self.held.append((role, cell))
        return cell

    def release(self, mark: int) -> None:
        """Let go of the temporaries taken since `mark = len(self.held)`."""
        while len(self.held) > mark:
            role, cell = self.held.pop()
            self.free[role].append(cell)

    def set_cell(self, cell: int, value: Expr, node: ast.AST, text: str = "") -> None:
        self.step(Kind.LOCAL, node, text, operations=(Assign(Const(cell), value),))

    def keep(self, expr: Expr, node: ast.AST, role: Role = Role.INT) -> Expr:
        """The same value, safe from later assignments to variables it mentions."""
        if isinstance(expr, Const):
            return expr
        cell = self.temporary(role, node)
        self.set_cell(cell, expr, node)
        return Load(Const(cell))

    # --- variables -------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
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
                raise self.refuse(node, unsupported_statement(node))
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


def unsupported_expression(node: ast.AST) -> str:
    advice = _ADVICE.get(type(node))
    return f"models cannot contain {advice or f'`{ast.unparse(node)}`'}"


def unsupported_statement(node: ast.AST) -> str:
    advice = _ADVICE.get(type(node))
    return f"models cannot contain {advice or f'this statement ({type(node).__name__})'}"
