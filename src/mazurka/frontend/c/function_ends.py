"""What is left to do at the end of a function's code."""

from __future__ import annotations

from mazurka.frontend.c.lowering import CallFrame, CLowering
from mazurka.frontend.c.types import FunctionType, VoidType, bare
from mazurka.frontend.c.values import NO_RESULT
from mazurka.ir.expressions import Const
from mazurka.ir.program import Fault, Span


def end_without_value(low: CLowering, span: Span) -> None:
    """Leave runs undecided that end a function without the value that it promises, and use it.

    A thread may end so, and leaves a mark for who asks for its result; `main` returns 0."""
    frame = low.frame
    type_ = frame.function.type
    assert isinstance(type_, FunctionType)
    if not low.reachable or isinstance(bare(type_.result), VoidType):
        return
    if frame is low.frames[0]:
        if frame.result and not low.plan.active:
            low.set_cell(frame.result[0], Const(NO_RESULT), span)
    elif frame.used:
        name = frame.function.name
        message = f"`{name}` ends without the value that it promises; add a `return`"
        low.fail(Fault.BOUND, message, span)


def forget_labels(low: CLowering, frame: CallFrame) -> None:
    """Forget the labels of a function that nothing leads to."""
    unplaced = low.require_automaton().unplaced
    for label in frame.labels.values():
        if label.bound is None:
            unplaced.discard(label.location)
