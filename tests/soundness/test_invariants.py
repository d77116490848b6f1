"""Threads that watch invariants: they see every state, and disturb nothing, in every strategy."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from mazurka.ir.passes.validate import validate
from mazurka.ir.program import Program
from mazurka.search import SearchOptions
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.stateful.reference.full import StateSpace, explore
from tests.limits import ENOUGH
from tests.soundness.amounts import shares
from tests.soundness.reductions import Agreement, Oracle, Subject, compare, consult
from tests.soundness.watching import MESSAGE, unequal_pair, watched

PROGRAMS = shares(80)
PORTION = 80
STATES = 400
SCHEDULED_STATES = 120
"""With more states, and the observer at any place in between, there are too many schedules."""
EXPLICIT = [*strategy_names("stateful"), *strategy_names("stateless")]
STRATEGIES = [name for name in EXPLICIT if load_strategy(name).sound]

portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))


def subjects(first: int) -> Iterator[tuple[str, Program, StateSpace, Program, bool]]:
    """A program, all that it can do, the program with an observer, and whether nothing is wrong."""
    turn = 0
    for seed in range(first, first + PORTION):
        subject, rng = Subject(seed), Random(seed)
        program = subject.program()
        whole = explore(program, limit=STATES)
        if not whole.complete:
            continue
        condition, holds = unequal_pair(program, whole, rng, holding=turn % 2 == 0)
        turn += 1
        with_observer = watched(program, condition)
        validate(with_observer)
        yield str(subject), program, whole, with_observer, holds


def small(oracle: Oracle) -> bool:
    return len(oracle.whole.states) <= SCHEDULED_STATES


@portions
def test_observer_sees_every_state_and_changes_nothing(first: int) -> None:
    verdicts = set()
    for name, program, whole, with_observer, holds in subjects(first):
        found = explore(with_observer)
        observer = len(program.threads)
        seen = [report for _, move, report in found.faults if move.thread == observer]
        assert bool(seen) == (not holds), name
        assert {report.message for report in seen} <= {MESSAGE}, name
        others = [fault for fault in found.faults if fault[1].thread != observer]
        assert {fault[2] for fault in others} == {fault[2] for fault in whole.faults}, name
        assert bool(found.deadlocks) == bool(whole.deadlocks), name
        assert bool(found.races) == bool(whole.races), name
        assert {state[: len(program.cells)] for state in found.states} == set(whole.states), name
        verdicts.add(holds)
    assert verdicts == {True, False}


@portions
def test_every_strategy_finds_what_the_observer_sees(first: int) -> None:
    options = SearchOptions(properties=frozenset({"assert"}), limit_seconds=ENOUGH)
    searches = inconclusive = violated = 0
    for name, _, whole, with_observer, holds in subjects(first):
        if whole.kinds - {"deadlock", "race"}:
            continue  # another violation would do
        oracle = consult(with_observer)
        assert oracle is not None
        assert ("assert" in oracle.whole.kinds) == (not holds), name
        for strategy in map(load_strategy, STRATEGIES):
            if strategy.over_schedules and not (small(oracle) and oracle.ends):
                continue
            comparison = compare(oracle, strategy, options)
            assert comparison.agreement is not Agreement.DISAGREES, f"{name}: {comparison}"
            searches += 1
            inconclusive += comparison.agreement is Agreement.INCONCLUSIVE
            violated += not holds
    assert inconclusive <= searches // 50
    assert 0 < violated < searches
