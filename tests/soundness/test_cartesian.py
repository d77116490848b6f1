"""Cartesian reduction as written, on random programs, against the search without reduction.

Theorem 1 says that each thread's local states are the same.  So every fault is found, by the same
thread at the same place; and by the argument in `stateful.reference.cartesian` every deadlock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from mazurka.ir.interpreter import Outcome, State
from mazurka.ir.program import IDLE, Program
from mazurka.ir.remembering import share_interpreter
from mazurka.stateful.reference.cartesian import Cartesian, explore_cartesian
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.variants import CycleRule, Finished
from tests.soundness.amounts import shares
from tests.soundness.reductions import Subject

STATES = 300
"""Programs with more states are left out: the interpreter is slow."""
PROGRAMS = shares(80)
"""Half of them from each generator."""
PORTION = 20

SEARCHES = list(product(CycleRule, Finished))

portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))


def programs(seeds: Iterable[int]) -> Iterator[tuple[str, Program, StateSpace]]:
    for seed in seeds:
        subject = Subject(seed)
        program = subject.program()
        whole = explore(program, races=False, limit=STATES)
        if whole.complete:
            yield str(subject), program, whole


def local_states(program: Program, states: Iterable[State]) -> list[set[State]]:
    """For each thread the values that its own cells have together."""
    owned = [
        [address for address, cell in enumerate(program.cells) if cell.owner == thread]
        for thread in range(len(program.threads))
    ]
    return [{tuple(state[own] for own in cells) for state in states} for cells in owned]


def assert_same(name: str, program: Program, whole: StateSpace, search: Cartesian) -> None:
    assert search.covered <= whole.states.keys(), name
    assert search.local_states == local_states(program, whole.states), name
    expected = {(move, report) for _, move, report in whole.faults}
    assert {(move, report) for _, move, report in search.faults} == expected, name
    if any(thread.observer for thread in program.threads):
        assert bool(search.deadlocks) == bool(whole.deadlocks), name
        assert search.deadlocks <= set(whole.deadlocks), name
    else:
        assert search.deadlocks == set(whole.deadlocks), name
    assert search.kinds == whole.kinds, name


def assert_nothing_is_lost(seeds: Iterable[int]) -> None:
    for name, program, whole in programs(seeds):
        for rule, finished in SEARCHES:
            search = explore_cartesian(program, rule=rule, finished=finished)
            assert_same(f"{name}, {rule}, {finished}", program, whole, search)


@portions
def test_nothing_is_lost_or_added(first: int) -> None:
    assert_nothing_is_lost(range(first, first + PORTION))


def watched(program: Program) -> Program:
    """The program, whose last thread only observes: it does not count for deadlocks."""
    *others, last = program.threads
    return replace(program, threads=(*others, replace(last, observer=True)))


def test_observers_neither_make_nor_prevent_deadlocks() -> None:
    different = 0
    for name, program, whole in programs(range(1000, 1080)):
        changed = watched(program)
        observed = explore(changed, races=False)
        search = explore_cartesian(changed)
        assert_same(f"{name}, last thread observes", changed, observed, search)
        different += bool(observed.deadlocks) != bool(whole.deadlocks)
    assert different


def features(program: Program, whole: StateSpace) -> Iterator[str]:
    """What the theory has to be extended for, and what is hard for it, as far as it happens."""
    interpreter = share_interpreter(program)
    for state in whole.states:
        for choice, step in interpreter.steps(state):
            yield str(step.outcome)
            if choice and step.happened:
                yield "choice"
            others = (n for n in range(len(program.threads)) if n != step.thread)
            if any(interpreter.location(state, n) == IDLE for n in others):
                yield "not created yet"
    search = explore_cartesian(program)
    for state in search.covered:
        if any(prefix.infinite and prefix.last_tran.happened for prefix in search.calc_cv(state)):
            yield "prefix that returns"


def test_programs_have_what_the_theory_is_extended_for() -> None:
    found: Counter[str] = Counter()
    for _, program, whole in programs(range(PROGRAMS)):
        found.update(set(features(program, whole)))
        found["deadlock"] += bool(whole.deadlocks)
    outcomes = (str(outcome) for outcome in Outcome if outcome is not Outcome.INVALID)
    rare = ("choice", "not created yet", "prefix that returns", "deadlock", *outcomes)
    assert all(found[feature] >= 5 for feature in rare), found


def test_default_rule_explores_least() -> None:
    """All programs together; in a single one a longer prefix may happen to meet more conflicts."""
    total = dict.fromkeys(CycleRule, 0)
    for _, program, _ in programs(range(0, PROGRAMS, 4)):
        for rule in CycleRule:
            total[rule] += len(explore_cartesian(program, rule=rule).covered)
    assert total[CycleRule.RETURN] < total[CycleRule.LITERAL] < total[CycleRule.TABLE1]
