"""The fast Algorithms 1 and 2 against the paper's text, state by state, on models."""

from __future__ import annotations

import functools
from operator import xor

import pytest
from tests.unit.ir.programs import Builder, crossed_locks, equals, plus, put
from tests.unit.stateless.schedule_programs import (
    critical_sections,
    guard_of_two,
    read_modify_write,
    same_variable,
)

from mazurka.ir.program import FINISHED, Kind, Program
from mazurka.stateless.bounded.algorithm1 import Algorithm1
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.hashing import EMPTY, StateHash, encode_name, hash_action
from mazurka.stateless.bounded.reference import (
    PlainAction,
    State,
    plain_algorithm_1,
    plain_algorithm_2,
)
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.models.runs import IRRuns
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees

ALL = RunOptions(stop_at_first=False)


def handover() -> Program:
    """A thread waits for what another one sets, and both count."""
    builder = Builder()
    x, ready = builder.shared("x", 0, 2), builder.shared("ready", 0, 1)
    setter, waiter = builder.thread(), builder.thread()
    setter.line(put(x, plus(x, 1)), put(ready, 1), put(x, plus(x, 1)))
    here, there = waiter.at(), waiter.at()
    waiter.edge(here, there, guard=equals(ready, 1), kind=Kind.AWAIT)
    waiter.edge(there, FINISHED, put(x, 0))
    return builder.program()


PROGRAMS = {
    "sections": lambda: critical_sections(2, 2),
    "three sections": lambda: critical_sections(3, 1),
    "lost updates": lambda: read_modify_write(2, 1),
    "writes": lambda: same_variable(3),
    "deadlock": crossed_locks,
    "guard": lambda: guard_of_two(first=True),
    "handover": handover,
}


def hash_of_action(action: PlainAction) -> StateHash:
    encoded = [(encode_name(name), written, number) for name, written, number in action.touches]
    return hash_action(action.thread, action.number, encoded)


def hash_of(state: State) -> StateHash:
    """What `Graph.hash` is for the same actions."""
    return functools.reduce(xor, map(hash_of_action, state), EMPTY)


def hashes_of(states: set[State]) -> set[StateHash]:
    return {hash_of(state) for state in states}


each = pytest.mark.parametrize("name", PROGRAMS)
bounds = pytest.mark.parametrize("bound", [0, 1, 2])


@each
@bounds
def test_algorithm_1_visits_the_states_of_the_paper(name: str, bound: int) -> None:
    program = PROGRAMS[name]()
    fast = Algorithm1(IRRuns(program), ALL)
    fast.explore(bound)
    assert hashes_of(plain_algorithm_1(IRRuns(program), bound)) == fast.closed


@each
@bounds
def test_algorithm_2_visits_the_terminal_states_of_the_paper(name: str, bound: int) -> None:
    program = PROGRAMS[name]()
    fast = Algorithm2(IRRuns(program), ALL)
    level = fast.explore(bound)
    closed, terminal = plain_algorithm_2(IRRuns(program), bound)
    assert level.executions == len(terminal) == len(set(terminal))
    assert hashes_of(set(terminal)) == set(fast.terminals)
    assert hashes_of(closed) == fast.closed


@each
def test_without_a_bound_all_searches_agree(name: str) -> None:
    """The paper's algorithm with a bound that nothing comes near."""
    program = PROGRAMS[name]()
    fast = Algorithm2(IRRuns(program), ALL)
    fast.explore(None)
    closed, terminal = plain_algorithm_2(IRRuns(program), 100)
    assert hashes_of(set(terminal)) == set(fast.terminals)
    assert hashes_of(closed) == fast.closed
    assert WakeupTrees(IRRuns(program), ALL).run().executions == len(terminal)
