"""All Mazurkiewicz traces of a small program, by brute force, and programs that have an end.

The traces are enumerated prefix by prefix: a prefix is known by the events in it, each with a clock
that says how many events of each thread happen before it.  Two schedules with equal clocks are one
trace and lead to one state, so each prefix is extended once.  Nothing of the searches is used here,
only the footprints of `IRExecution`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateless.explored import RunOptions, run_limit
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch
from mazurka.stateless.runs import Ended, choice_of

MOST_RUNS = 2_000
"""How many schedules a search may run; the one without sleep sets may repeat itself for hours."""
Clock = tuple[int, ...]
Event = tuple[int, int, Clock]
"""Thread, choice and clock; the thread's own entry counts the event itself."""
Prefix = frozenset[Event]


def terminal_traces(program: Program, limit: int) -> set[Prefix] | None:
    """The traces of all complete executions; None if there are more than `limit` prefixes."""
    execution = IRExecution(program)
    start: tuple[Prefix, State, tuple[tuple[Action, Clock], ...]]
    start = (frozenset(), program.initial_state(), ())
    seen: set[Prefix] = {frozenset()}
    ends: set[Prefix] = set()
    waiting = [start]
    while waiting:
        prefix, state, events = waiting.pop()
        moved = False
        for action in _enabled(execution, state):
            moved = True
            clock = _clock(len(program.threads), events, action)
            longer = prefix | {(action.thread, choice_of(action.move), clock)}
            if longer in seen:
                continue
            if len(seen) >= limit:
                return None
            seen.add(longer)
            following = execution.interpreter.step(
                state, action.thread, choice_of(action.move)
            ).state
            waiting.append((longer, following, (*events, (action, clock))))
        if not moved:
            ends.add(prefix)
    return ends


def completed_traces(search: type[ScheduleSearch], program: Program) -> list[Prefix] | None:
    """The traces that a search completes, repetitions included; None if it runs too many."""
    completed: list[Prefix] = []

    class Watched(search):  # type: ignore[misc, valid-type]
        def note_end(self, end: Ended) -> None:
            super().note_end(end)
            completed.append(_trace(len(program.threads), self.trace.actions))

    options = RunOptions(max_runs=MOST_RUNS, stop_at_first=False)
    found = Watched(IRExecution(program), options).run()
    return None if run_limit(MOST_RUNS) in found.limits else completed


def _trace(threads: int, actions: list[Action]) -> Prefix:
    events: tuple[tuple[Action, Clock], ...] = ()
    for action in actions:
        events += ((action, _clock(threads, events, action)),)
    return frozenset((action.thread, choice_of(action.move), clock) for action, clock in events)


def _enabled(execution: IRExecution, state: State) -> Iterator[Action]:
    for thread in range(len(execution.program.threads)):
        for action in execution.view_at(state, thread).actions:
            if action.enabled:
                yield action


def _clock(threads: int, events: tuple[tuple[Action, Clock], ...], action: Action) -> Clock:
    clock = [0] * threads
    thread = action.thread
    for event, known in events:
        together = event.reads | event.writes
        conflict = event.writes & action.reads or action.writes & together
        if event.thread == thread or conflict:
            clock = [max(pair) for pair in zip(clock, known, strict=True)]
    clock[thread] += 1
    return tuple(clock)


def ends(program: Program, whole: StateSpace) -> bool:
    """Whether every execution ends: the graph of the reachable states has no cycle."""
    interpreter = share_interpreter(program)
    following = {state: set(_successors(interpreter, state)) for state in whole.states}
    sources = dict.fromkeys(following, 0)
    for states in following.values():
        for state in states:
            sources[state] += 1
    free = [state for state, count in sources.items() if count == 0]
    removed = 0
    while free:
        removed += 1
        for state in following[free.pop()]:
            sources[state] -= 1
            if sources[state] == 0:
                free.append(state)
    return removed == len(following)


def _successors(interpreter: Interpreter, state: State) -> Iterator[State]:
    for _, step in interpreter.steps(state):
        if step.happened and not (step.fault is not None and step.fault.fault in DEAD_ENDS):
            yield step.state


def explored_if_it_ends(program: Program, limit: int) -> StateSpace | None:
    """All that can happen, or None for a program that is too large or need not end."""
    whole = explore(program, races=False, limit=limit)
    return whole if whole.complete and ends(program, whole) else None
