"""Hangs by the definition, on the whole state graph: what the check of single states must match.

A hang is a bottom component of the graph (its states can be reached from each other, and no step
leaves it) in which some thread moves, no step changes a shared cell, no thread has failed, and
which no thread that is stopped by an assumption could end.  `mazurka.stateful.hangs` proves that
its check of one state finds the same.  Components by Tarjan, *Depth-first search and linear graph
algorithms* (1972).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mazurka.analysis.cell_sets import bits
from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import WRONG, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.stateful.hangs import (
    Alone,
    QuietState,
    Walk,
    changes_shared,
    find_own_cells,
    judge_walks,
)


def find_hangs(program: Program, states: Iterable[State]) -> list[tuple[State, QuietState]]:
    """One state of each quiet component among all reachable states, and who hangs there."""
    interpreter = share_interpreter(program)
    successors = {
        state: [step.state for _, step in interpreter.steps(state) if step.happened]
        for state in states
    }
    found = (
        (component[0], examine_component(interpreter, component))
        for component in find_components(successors)
    )
    return [(state, quiet) for state, quiet in found if quiet is not None]


def examine_component(interpreter: Interpreter, component: list[State]) -> QuietState | None:
    """Who hangs in a component of the state graph; None if it is not quiet."""
    program, inside = interpreter.program, set(component)
    own = find_own_cells(program)
    walks: dict[int, Walk] = {}
    for thread, each in enumerate(program.threads):
        steps = [step for state in component for _, step in interpreter.steps_of(state, thread)]
        moves = [step for step in steps if step.happened]
        if each.observer:
            moves = [step for step in moves if step.fault is None]
        elif any(step.fault is not None for step in moves):
            return None
        if any(step.state not in inside for step in moves):
            return None
        for state in component:
            for _, step in interpreter.steps_of(state, thread):
                happened = step.happened and step.fault is None
                if happened and changes_shared(state, step.state, own[thread]):
                    return None
        if not each.observer:
            places = frozenset(interpreter.location(state, thread) for state in component)
            walks[thread] = _describe(steps, places)
    return judge_walks(program, component[0], walks)


def _describe(steps: list[Step], places: frozenset[int]) -> Walk:
    """What a thread does in a component, by all steps that it tries there."""
    outcomes = {step.outcome for step in steps}
    reads = bits(cell for step in steps for cell in step.footprint_reads)
    is_stopped = Outcome.STOPPED in outcomes
    if WRONG in places:
        return Walk(Alone.FAILED)
    if Outcome.MOVED in outcomes:
        return Walk(Alone.GOES_ROUND, False, is_stopped, reads, places)
    waits = Outcome.WAITS in outcomes and not is_stopped
    return Walk(Alone.STOPPED if is_stopped else Alone.RESTS, waits, is_stopped, reads, places)


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
