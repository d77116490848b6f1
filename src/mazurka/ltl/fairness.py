"""Which runs count: the conditions that a run must meet again and again.

Each condition is about a thread, and must be met by infinitely many steps of a run
(`docs/semantics.md`, Temporal formulas):

- *unstopped*: the thread is not stopped by an assumption in the state before the step.  Asked for
  each thread that has assumptions: a run in which it is stopped for ever is left out.
- *fair*: the thread makes the step, or cannot move in the state before it.  Asked for each thread
  under weak fairness.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.analysis.standstill import find_tried_steps
from mazurka.ir.interpreter import Interpreter, Outcome, State
from mazurka.ir.program import Kind, Program


@dataclass(frozen=True, slots=True)
class RunCondition:
    """Something that a run must meet infinitely often."""

    thread: int
    fair: bool
    """Whether it is the thread's fairness; else that it is not stopped for ever."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the threads can do in a state; observers take no part."""

    able: frozenset[int]
    stopped: frozenset[int]
    """Those that cannot move, and that an assumption stops with one of their choices."""

    def meet(self, condition: RunCondition, mover: int | None) -> bool:
        """Whether a step of `mover` from this state meets a condition; None: the run has ended."""
        if condition.fair:
            return condition.thread == mover or condition.thread not in self.able
        return condition.thread not in self.stopped


def find_conditions(program: Program, *, fair: bool) -> tuple[RunCondition, ...]:
    """The conditions for the runs of a program, with or without weak fairness."""
    acting = [number for number, thread in enumerate(program.threads) if not thread.observer]
    assuming = [
        number
        for number in acting
        if any(edge.kind is Kind.ASSUME for edge in program.threads[number].edges)
    ]
    return (
        *(RunCondition(number, fair=False) for number in assuming),
        *(RunCondition(number, fair=True) for number in acting if fair),
    )


def find_abilities(interpreter: Interpreter, state: State) -> Abilities:
    able, stopped = set(), set()
    for number, thread in enumerate(interpreter.program.threads):
        if thread.observer:
            continue
        stops = False
        for _, step in find_tried_steps(interpreter, state, number):
            if step.outcome in (Outcome.MOVED, Outcome.FAULT):
                able.add(number)
                break  # there may be very many choices
            stops = stops or step.outcome is Outcome.STOPPED
        else:
            if stops:
                stopped.add(number)
    return Abilities(frozenset(able), frozenset(stopped))
