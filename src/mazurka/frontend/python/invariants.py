"""Invariants: `invariant(condition)` at module level, watched by a thread of its own.

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

from mazurka.frontend.kit.automaton import Automaton, Label
from mazurka.frontend.python.assertions import check_message, read_message, refuse_tuple
from mazurka.frontend.python.context import Activation, Invariant, Model
from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering, callable_name
from mazurka.frontend.python.survey import facts_of, find_free_names
from mazurka.frontend.python.values import Nothing, Value
from mazurka.ir.expressions import Const
from mazurka.ir.program import FINISHED, Assign, Check, Edge, Fault, Kind

PERMITTED = frozenset({Kind.LOCAL, Kind.ATOMIC, Kind.ASSERT, Kind.INSPECT})
"""What a condition may be made of; `ATOMIC` stands for reads here, for writes too elsewhere."""


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
    check = Check(condition, Fault.ASSERT, invariant.message)
    low.step(Kind.ASSERT, low.span(node), text, operations=(check,))
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
