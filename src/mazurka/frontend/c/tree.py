"""The syntax tree of a C program, with types; nothing in it belongs to the parser.

Every implicit conversion is a `Convert` node, so that what reads the tree needs no rules of its
own: operands of an operator have the type in which it is computed, apart from shifts and compound
assignments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mazurka.frontend.c.types import CType, RecordType
from mazurka.ir.program import Span


@dataclass(frozen=True, slots=True, eq=False)
class SyntaxNode:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Expression(SyntaxNode):
    type: CType
    text: str
    """As the source has it, for messages and traces."""


@dataclass(frozen=True, slots=True, eq=False)
class IntegerConstant(Expression):
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class SizeOf(IntegerConstant):
    """`sizeof`; `measured` is the type, where it is known."""

    measured: CType | None


@dataclass(frozen=True, slots=True, eq=False)
class SizeOfVariable(Expression):
    """`sizeof` of an array whose length is found at run time."""

    variable: Variable


@dataclass(frozen=True, slots=True, eq=False)
class Real(Expression):
    """A floating constant; its value is not followed."""


@dataclass(frozen=True, slots=True, eq=False)
class StringLiteral(Expression):
    """A string literal, with the zero at its end."""

    data: bytes


@dataclass(eq=False, slots=True)
class Variable:
    """An object that has a name."""

    name: str
    type: CType
    span: Span
    initial: Expression | None = None
    local: bool = False
    """Automatic storage: each call has its own."""
    per_thread: bool = False
    parameter: bool = False
    external: bool = False
    """Declared and not defined."""
    length: Expression | None = None
    """The number of elements of an array, where it is found at run time."""
    cleanup: Expression | None = None
    """The call that its attribute `cleanup` asks for."""
    refusal: str = ""
    """Why it cannot be used, where it cannot."""


@dataclass(eq=False, slots=True)
class CFunction:
    name: str
    type: CType
    span: Span
    parameters: tuple[Variable, ...] = ()
    body: Compound | None = None
    reader: Callable[[], None] | None = None
    """Converts the body when it is first needed."""
    attributes: dict[str, str] = field(default_factory=dict)
    """Its attributes, each with what stands in its parentheses."""

    @property
    def defined(self) -> bool:
        return self.body is not None or self.reader is not None

    def read(self) -> Compound:
        """The body of a function that is defined."""
        if self.reader is not None:
            reader, self.reader = self.reader, None
            reader()
        assert self.body is not None
        return self.body


@dataclass(frozen=True, slots=True, eq=False)
class Name(Expression):
    variable: Variable


@dataclass(frozen=True, slots=True, eq=False)
class FunctionName(Expression):
    function: CFunction


@dataclass(frozen=True, slots=True, eq=False)
class BinaryOperation(Expression):
    """A binary operator on values; `&&`, `||` and the comma are nodes of their own."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class PrefixOperation(Expression):
    """`-`, `~`, `!` and `+`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Logical(Expression):
    """`&&` and `||`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Comma(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Ternary(Expression):
    test: Expression
    then: Expression | None
    """None in `test ?: otherwise`."""
    otherwise: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Assignment(Expression):
    """`=`, or with an operator such as `+`."""

    operator: str
    target: Expression
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Increment(Expression):
    """`++` and `--`, before or behind the operand."""

    step: int
    postfix: bool
    target: Expression


@dataclass(frozen=True, slots=True, eq=False)
class AddressOf(Expression):
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Dereference(Expression):
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Subscript(Expression):
    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Member(Expression):
    base: Expression
    name: str
    arrow: bool
    record: RecordType


@dataclass(frozen=True, slots=True, eq=False)
class Conversion(Expression):
    """A conversion; `explicit` where the source has a cast."""

    operand: Expression
    explicit: bool


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expression):
    callee: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Builtin(Expression):
    """A function of the compiler that takes any type: `__atomic_load_n`."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated(Expression):
    """An argument of a library function, or a part of one, that has been evaluated before the call.

    The parser makes none: `calls.py` replaces expressions that have effects by their values."""

    value: object


@dataclass(frozen=True, slots=True, eq=False)
class StatementExpression(Expression):
    body: Compound


@dataclass(frozen=True, slots=True, eq=False)
class InitialList(Expression):
    """`{...}`: each item with its designators, names of members or positions."""

    items: tuple[tuple[tuple[str | int, ...], Expression], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CompoundLiteral(Expression):
    variable: Variable


@dataclass(frozen=True, slots=True, eq=False)
class Statement(SyntaxNode):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Compound(Statement):
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Declare(Statement):
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate(Statement):
    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class If(Statement):
    test: Expression
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True, eq=False)
class LoopStatement(Statement):
    """`while`, `do` and `for`; a missing test always holds."""

    initial: Statement | None
    test: Expression | None
    step: Expression | None
    body: Statement
    test_last: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Switch(Statement):
    value: Expression
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class CaseLabel(Statement):
    """A label of a switch; without a range it is `default`."""

    values: tuple[int, int] | None
    body: Statement | None


@dataclass(frozen=True, slots=True, eq=False)
class Labelled(Statement):
    name: str
    body: Statement | None


@dataclass(frozen=True, slots=True, eq=False)
class Goto(Statement):
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Break(Statement):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Statement):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Return(Statement):
    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Guarded(Statement):
    """What follows a variable with a `cleanup` in its block: wherever it is left, that is called.

    The declaration itself comes before."""

    body: Compound
    cleanup: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Empty(Statement):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Refused(Statement):
    """What the parser understands and Mazurka does not: an error only where it can be reached."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class RefusedExpression(Expression):
    reason: str


@dataclass(slots=True)
class TranslationUnit:
    """A whole source file."""

    file: str
    sources: dict[str, str]
    functions: dict[str, CFunction] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
