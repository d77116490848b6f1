"""Hangs by the definition, on the whole state graph: what the check of single states must match.

A hang is a bottom component of the graph (its states can be reached from each other, and no step
leaves it) in which some thread moves, no step changes a shared cell, and no thread is stopped.
`mazurka.stateful.hangs` proves that its check of one state finds the same.  Components by Tarjan,
*Depth-first search and linear graph algorithms* (1972).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import Program
from mazurka.ir.remembering import share_interpreter
from mazurka.stateful.hangs import changes_shared, find_own_cells


def find_hangs(program: Program, states: Iterable[State]) -> list[State]:
    """One state of each hang among all reachable states."""
    interpreter = share_interpreter(program)
    successors = {
        state: [step.state for _, step in interpreter.steps(state) if step.happened]
        for state in states
    }
    return [
        component[0]
        for component in find_components(successors)
        if is_hanging(interpreter, set(component))
    ]


def is_hanging(interpreter: Interpreter, component: set[State]) -> bool:
    """Whether a component of the state graph is a hang."""
    program = interpreter.program
    own = find_own_cells(program)
    moving = False
    for state in component:
        for thread, each in enumerate(program.threads):
            steps = [step for _, step in interpreter.steps_of(state, thread)]
            moves = [step for step in steps if step.happened]
            if each.observer:
                moves = [step for step in moves if step.fault is None]
            elif any(step.fault is not None for step in moves) or _is_stopped(steps):
                return False
            if any(step.state not in component for step in moves):
                return False
            if any(changes_shared(state, step.state, own[thread]) for step in moves):
                return False
            moving |= bool(moves) and not each.observer
    return moving


def _is_stopped(steps: list[Step]) -> bool:
    """Whether a thread cannot move because of an assumption or a failure."""
    outcomes = {step.outcome for step in steps}
    return Outcome.STOPPED in outcomes and Outcome.MOVED not in outcomes


def find_components(successors: dict[State, list[State]]) -> Iterator[list[State]]:
    """The strongly connected components of a graph."""
    numbers: dict[State, int] = {}
    lowest: dict[State, int] = {}
    path: list[State] = []
    on_path: set[State] = set()
    for root in successors:
        work = [] if root in numbers else [(root, iter(successors[root]))]
        while work:
            state, following = work[-1]
            if state not in numbers:
                numbers[state] = lowest[state] = len(numbers)
                path.append(state)
                on_path.add(state)
            for other in following:
                if other not in successors:  # after a step that did not end
                    continue
                if other not in numbers:
                    work.append((other, iter(successors[other])))
                    break
                if other in on_path:
                    lowest[state] = min(lowest[state], numbers[other])
            else:
                work.pop()
                if work:
                    before = work[-1][0]
                    lowest[before] = min(lowest[before], lowest[state])
                if lowest[state] == numbers[state]:
                    component: list[State] = []
                    while not component or component[-1] != state:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    yield component
