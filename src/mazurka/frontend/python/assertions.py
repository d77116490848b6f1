"""Assertions, invariants and formulas: what a model says about itself.

`invariant(condition)` and `ltl("formula")` stand at module level.  A formula is kept as text; an
invariant is watched by a thread of its own.

What holds in every reachable state is a property of all threads together, and a search that
leaves out interleavings need not visit every state.  A thread that looks at what the condition is
about makes it a property of that thread alone: it takes one step, at any moment, which evaluates
the whole condition and fails where it is false.  Every reduction keeps what a single thread can
come to, and since the observer's reads are ordinary ones, no reduction can hide from it a state in
which it would have seen something else.

It looks once.  A state in which the condition is false is reached without the observer as well,
and from there it can look; so nothing is missed, and the program gets no new cycle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mazurka.frontend.kit.program import Automaton, Label
from mazurka.frontend.python.expressions import look_up, truth_of
from mazurka.frontend.python.lowering import (
    Activation,
    Invariant,
    Lowering,
    Model,
    callable_name,
    statement,
)
from mazurka.frontend.python.survey import facts_of, find_free_names
from mazurka.frontend.python.values.kinds import Nothing, Number, Value
from mazurka.ir.expressions import Const
from mazurka.ir.program import FINISHED, Assign, DeclaredFormula, Edge, Kind


@statement(ast.Assert)
def _assert(low: Lowering, node: ast.Assert) -> None:
    refuse_tuple(low, node.test)
    condition = truth_of(low, low.value(node.test), node.test)
    if node.msg is not None:
        check_message(low, node.msg)
    if isinstance(condition, Const) and condition.value:
        return
    message = f"assertion failed: {ast.unparse(node.test)}"
    if node.msg is not None:
        message = read_message(node.msg)
    if isinstance(condition, Const):
        message += _constants(low, node.test)
    low.check(condition, message, low.span(node), f"assert {ast.unparse(node.test)}"[:100])
    if isinstance(condition, Const):
        low.require_automaton().current = None  # it fails, and its thread ends here


def refuse_tuple(low: Lowering, test: ast.expr) -> None:
    """Refuse `assert (x == 1, "message")`: a tuple is always true."""
    if isinstance(test, ast.Tuple) and test.elts:
        meant = ", ".join(map(ast.unparse, test.elts))
        raise low.refuse(
            test,
            f"`{ast.unparse(test)}` is a tuple, which always holds; write `{meant}` without the"
            " parentheses around it",
        )


def check_message(low: Lowering, message: ast.expr) -> None:
    """Refuse undefined names in a message, although messages are not computed."""
    for name in sorted(find_free_names(message)):
        if not (low.frames and low.frame.facts.is_local(name)):
            look_up(low, name, message)


def _constants(low: Lowering, test: ast.expr) -> str:
    """Describe the constants in a condition, which no step of a trace shows."""
    known: list[str] = []
    free = find_free_names(test)
    used = [inner for inner in ast.walk(test) if isinstance(inner, ast.Name) and inner.id in free]
    used.sort(key=lambda inner: (inner.lineno, inner.col_offset))
    for name in dict.fromkeys(inner.id for inner in used):
        value = low.frame.variables.get(name)
        if value is None and not low.frame.facts.is_local(name):
            value = low.program.globals.get(name)
        if isinstance(value, Number) and value.constant is not None:
            shown = bool(value.constant) if value.boolean else value.constant
            known.append(f"{name} is {shown}")
    return f" ({', '.join(known)})" if known else ""


def read_message(node: ast.expr) -> str:
    """The text of a message; an f-string keeps its expressions as they are written."""
    match node:
        case ast.Constant(value):
            return str(value)
        case ast.JoinedStr(values):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"{{{_source(part)}}}"
                for part in values
            )
        case _:
            return f"{{{ast.unparse(node)}}}"


def _source(part: ast.expr) -> str:
    return ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part)


PERMITTED = frozenset({Kind.LOCAL, Kind.ATOMIC, Kind.ASSERT, Kind.INSPECT})
"""What a condition may be made of; `ATOMIC` stands for reads here, for writes too elsewhere."""


@callable_name("mazurka.model.ltl")
def _formula(low: Lowering, node: ast.Call) -> Value:
    """A temporal formula: it is kept as text, and read when all names of the program are known."""
    if low.automaton is not None or node not in low.program.survey.formulas:
        raise low.refuse(
            node,
            "`ltl` is a declaration; write it at module level, on a line of its own, outside"
            " functions, loops and branches",
        )
    fair = False
    match node:
        case ast.Call(args=[ast.Constant(str() as text)], keywords=[]):
            pass
        case ast.Call(
            args=[ast.Constant(str() as text)],
            keywords=[ast.keyword("fair", ast.Constant(bool() as fair))],
        ):
            pass
        case _:
            raise low.refuse(
                node, '`ltl` is written `ltl("formula")` or `ltl("formula", fair=True)`'
            )
    low.program.formulas.append(DeclaredFormula(text, fair, low.span(node)))
    return Nothing()


@callable_name("mazurka.model.invariant")
def _invariant(low: Lowering, node: ast.Call) -> Value:
    if low.automaton is not None or node not in low.program.survey.invariants:
        raise low.refuse(
            node,
            "`invariant` is a declaration; write it at module level, on a line of its own, outside"
            " functions, loops and branches",
        )
    if node.keywords or len(node.args) not in (1, 2):
        raise low.refuse(
            node,
            '`invariant` is written `invariant(condition)` or `invariant(condition, "message")`',
        )
    condition, *message = node.args
    refuse_tuple(low, condition)
    for text in message:
        check_message(low, text)
    for name in sorted(find_free_names(condition)):
        low.designate(ast.copy_location(ast.Name(name, ast.Load()), condition))
    told = read_message(message[0]) if message else ast.unparse(condition)
    low.program.invariants.append(Invariant(node, condition, f"invariant violated: {told}"))
    return Nothing()


def build_observer(model: Model, number: int, invariant: Invariant) -> Automaton:
    """Build the observer of an invariant: one atomic step from its beginning to its end."""
    automaton = Automaton()
    low = Lowering(model, number, automaton)
    node, threads = invariant.node, len(model.plans)
    automaton.begin(low.span(node))
    model.frames += 1
    low.frames.append(Activation(model.frames, "invariant", facts_of([]), is_module=True))
    automaton.atomic_depth = 1
    text = f"invariant {ast.unparse(invariant.condition)}"[:100]
    low.step(Kind.ATOMIC, low.span(node), text, atomic=True)
    condition = truth_of(low, low.value(invariant.condition), invariant.condition)
    low.check(condition, invariant.message, low.span(node), text)
    automaton.jump(Label(FINISHED), low.span(node))
    for edge in _meddling(low, automaton):
        where = ast.copy_location(ast.Pass(), node)
        where.lineno = edge.span.line
        raise low.refuse(where, f"an invariant may only look at data; this does more: {edge.text}")
    if len(model.plans) != threads:
        raise low.refuse(node, "an invariant may only look at data; this makes a thread")
    return automaton


def _meddling(low: Lowering, automaton: Automaton) -> Iterator[Edge]:
    """Find edges that wait, choose, or write what is not the observer's own."""
    cells = low.program.storage.cells
    for edge in automaton.edges:
        if edge.kind not in PERMITTED or edge.choices > 1:
            yield edge
        elif edge.kind is not Kind.LOCAL:
            for operation in edge.operations:
                match operation:
                    case Assign(Const(cell)) if cells[cell].owner == low.number:
                        pass
                    case Assign():
                        yield edge
