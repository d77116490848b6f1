"""Gives a program an assertion that fails in few of its states.

A search that loses executions is noticed only if what it loses is the only way to a violation.  An
assertion made up at random is violated everywhere or nowhere.  So the program is explored first;
then one thread asserts that its local variables do not have certain values at a certain place:
values that they can have, but not without the doing of another thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.interpreter import State
from mazurka.ir.program import (
    FIRST_LOCATION,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Program,
    Role,
    Span,
)
from mazurka.ir.remembering import share_interpreter
from mazurka.stateful.reference.full import explore

RAREST = 3
"""Half of the assertions are about one of so many of the rarest situations."""
Situation = tuple[int, int, tuple[int, ...]]
"""A thread, its location, the values of its variables."""


def sharpen(program: Program, rng: Random, limit: int) -> Program:
    """The program with one more assertion; unchanged if it has too many states."""
    whole = explore(program, races=False, limit=limit)
    if not whole.complete:
        return program
    found = _situations(program, whole.states)
    for number in range(len(program.threads)):
        for situation in _situations(program, _states_alone(program, number)):
            if situation[0] == number:
                found.pop(situation, None)
    if not found:
        return program
    rarest = sorted(found, key=lambda situation: (found[situation], situation))
    number, location, values = rng.choice(rarest[:RAREST] if rng.random() < 0.5 else rarest)
    if rng.random() < 0.15:  # a situation that need not come up
        values = tuple(rng.randint(0, 2) for _ in values)
    return _forbid(program, number, location, values)


def _situations(program: Program, states: Iterable[State]) -> Counter[Situation]:
    """How many states each situation comes up in."""
    found: Counter[Situation] = Counter()
    owns = [_locals(program, number) for number in range(len(program.threads))]
    for state in states:
        for number, thread in enumerate(program.threads):
            location = state[thread.counter]
            if location >= FIRST_LOCATION and thread.outgoing[location]:
                found[number, location, tuple(state[address] for address in owns[number])] += 1
    return found


def _states_alone(program: Program, number: int) -> set[State]:
    """Where a thread gets if no other one moves."""
    interpreter = share_interpreter(program)
    start = program.initial_state()
    seen, work = {start}, [start]
    while work:
        state = work.pop()
        for choice in range(interpreter.choices(state, number)):
            step = interpreter.step(state, number, choice)
            if step.happened and step.fault is None and step.state not in seen:
                seen.add(step.state)
                work.append(step.state)
    return seen


def _locals(program: Program, thread: int) -> list[int]:
    return [
        address
        for address, cell in enumerate(program.cells)
        if cell.owner == thread and cell.role is not Role.COUNTER
    ]


def _forbid(program: Program, number: int, location: int, values: tuple[int, ...]) -> Program:
    """Assert, before the thread goes on from a location, that its variables differ from these."""
    thread = program.threads[number]
    different: Expr = ZERO
    for address, value in zip(_locals(program, number), values, strict=True):
        differs = Binary("ne", Load(Const(address)), Const(value))
        different = Conditional(differs, ONE, different)
    onward = len(thread.locations)
    check = Check(different, Fault.ASSERT, "a rare situation")
    mode = thread.locations[location].mode
    assert mode is Mode.VISIBLE
    edges = [
        replace(edge, source=onward) if edge.source == location else edge for edge in thread.edges
    ]
    edges.append(Edge(location, onward, Kind.ASSERT, Span(program.name, 0), operations=(check,)))
    longer = replace(thread, locations=(*thread.locations, Location()), edges=tuple(edges))
    threads, cells = list(program.threads), list(program.cells)
    threads[number] = longer
    cells[thread.counter] = replace(cells[thread.counter], high=onward)
    return replace(program, cells=tuple(cells), threads=tuple(threads))
