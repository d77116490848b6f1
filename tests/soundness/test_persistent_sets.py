"""Stubborn sets as written, on random programs: persistent by brute force, and nothing is lost.

Every closure from every thread that can move, in every reachable state, is checked against the
definition; Algo 3's must lie in Algo 2's (Theorem 2); and each search must find the faults and the
deadlocks of the search without reduction, no more and no less, and a race if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from mazurka.analysis.futures import find_futures
from mazurka.ir.program import Edge, Kind, Program
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.reference.stubborn import PersistentSets, StubbornSearch, explore_persistent
from mazurka.stateful.variants import Proviso, Relation
from tests.soundness.amounts import shares
from tests.soundness.persistent_sets import Space, refuted, small_programs
from tests.soundness.queue_bounds import is_full_queue
from tests.soundness.random_programs import random_program

STATES = 200
"""Programs with more states are left out: the interpreter is slow."""
PROGRAMS = shares(60)
"""Half of them from each generator."""
PORTION = 20
RESTARTING = 60
"""Programs that start threads again."""

portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))


def assert_persistent(name: str, program: Program, whole: StateSpace) -> None:
    space = Space(program, whole)
    for relation, proviso in product(Relation, Proviso):
        for _, seed, dependence in refuted(PersistentSets(program, relation, proviso), space):
            pytest.fail(f"{name}, {relation}, {proviso}, from thread {seed}: {dependence}")


def assert_same(name: str, program: Program, whole: StateSpace, search: StubbornSearch) -> None:
    assert search.complete, name
    assert search.states <= whole.states.keys(), name
    expected = {(move, report) for _, move, report in whole.faults}
    found = {(move, report) for _, move, report in search.faults}
    needed = {each for each in expected if not is_full_queue(program, each[1])}
    assert needed <= found <= expected, name
    if any(thread.observer for thread in program.threads):
        assert bool(search.deadlocks) == bool(whole.deadlocks), name
        assert set(search.deadlocks) <= set(whole.deadlocks), name
    else:
        assert set(search.deadlocks) == set(whole.deadlocks), name
    assert set(search.races) <= {state for state, *_ in whole.races}, name
    assert bool(search.races) == bool(whole.races), name
    if needed == expected:
        assert search.kinds == whole.kinds, name


def assert_nothing_is_lost(name: str, program: Program, whole: StateSpace) -> None:
    for relation, proviso in product(Relation, Proviso):
        search = explore_persistent(program, relation=relation, proviso=proviso, races=True)
        assert_same(f"{name}, {relation}, {proviso}", program, whole, search)


@portions
def test_every_set_is_persistent(first: int) -> None:
    for name, program, whole in small_programs(range(first, first + PORTION), STATES):
        assert_persistent(name, program, whole)


@portions
def test_nothing_is_lost_or_added(first: int) -> None:
    for name, program, whole in small_programs(range(first, first + PORTION), STATES):
        assert_nothing_is_lost(name, program, whole)


@portions
def test_lock_patterns_make_no_set_larger(first: int) -> None:
    """Theorem 2, for each thread to begin with."""
    for name, program, whole in small_programs(range(first, first + PORTION), STATES):
        static = PersistentSets(program, Relation.STATIC)
        patterns = PersistentSets(program, Relation.LOCK_PATTERNS)
        for state in whole.states:
            attempts = static.attempts(state)
            for seed in range(len(program.threads)):
                larger = static.closure(state, attempts, seed)
                assert patterns.closure(state, attempts, seed) <= larger, name


def test_reductions_reduce() -> None:
    """All programs together: each relation saves states, and the finer ones save more."""
    total = dict.fromkeys(Relation, 0)
    everything = 0
    for _, program, whole in small_programs(range(0, PROGRAMS, 2), STATES):
        everything += whole.transitions
        for relation in Relation:
            total[relation] += explore_persistent(program, relation=relation).transitions
    assert total[Relation.STATIC] < total[Relation.AMPLE] < everything
    assert total[Relation.LOCK_PATTERNS] < total[Relation.AMPLE]


def restarting(seeds: Iterable[int]) -> Iterator[tuple[str, Program, StateSpace]]:
    """Random programs in which a thread is started without a look at whether it runs already."""
    for seed in seeds:
        program = random_program(Random(seed))
        if not any(edge.kind is Kind.CREATE for edge in program.edges):
            continue
        threads = tuple(
            replace(thread, edges=tuple(_without_looking(thread.edges)))
            for thread in program.threads
        )
        program = replace(program, threads=threads)
        whole = explore(program, limit=STATES)
        if whole.complete:
            yield f"seed {seed}, restarting", program, whole


def _without_looking(edges: tuple[Edge, ...]) -> Iterator[Edge]:
    for edge in edges:
        if edge.kind is not Kind.CREATE:
            yield edge
        elif edge.operations:
            yield replace(edge, guard=None)


def test_threads_that_are_started_again() -> None:
    again = 0
    for name, program, whole in restarting(range(RESTARTING)):
        again += bool(find_futures(program).restartable)
        assert_persistent(name, program, whole)
        assert_nothing_is_lost(name, program, whole)
    assert again
