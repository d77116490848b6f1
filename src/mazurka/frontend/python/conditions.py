"""Conditions that are part of waiting: they are evaluated again whenever they might have changed.

`await_` and the conditions of `select` read shared data in the step that waits.  If possible, such
a condition is one expression, the guard of an edge.  If it takes edges (a function is called, an
object is looked at), they form an atomic section that waits as a whole.
"""

from __future__ import annotations

import ast

from mazurka.frontend.python.expressions import truth_of
from mazurka.frontend.python.lowering import Lowering
from mazurka.ir.expressions import Expr
from mazurka.ir.program import Kind, Span


def evaluate_directly(
    low: Lowering, condition: ast.expr, most_reads: int | None = None
) -> Expr | None:
    """Evaluate a condition as a guard that reads shared cells itself, at most so many of them;
    None if that is not possible.

    Such a thread simply waits for its condition, without a state for having read too early.
    """
    automaton = low.require_automaton()
    edges, locations, held = len(automaton.edges), len(automaton.locations), len(low.held)
    current, bound = automaton.current, automaton.bound
    outer, low.direct = low.direct, 0
    try:
        test = truth_of(low, low.value(condition), condition)
        reads = low.direct
    finally:
        low.direct = outer
    few = most_reads is None or reads <= most_reads
    if few and len(automaton.edges) == edges:
        return test
    del automaton.edges[edges:], automaton.locations[locations:]
    automaton.current, automaton.bound = current, bound
    low.release(held)
    return None


def begin_evaluation(low: Lowering, span: Span, text: str) -> None:
    """Begin a section in which a condition is evaluated, and which waits as a whole.

    Unlike an `atomic()` section it begins with a plain edge, so its reads can race: whether a
    condition is one expression or calls a function makes no difference.
    """
    low.atomic_loops = low.loop_depth
    low.enter_section(Kind.UNTIL, span, text)
