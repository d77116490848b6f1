"""The native search with persistent sets does what the one on the interpreter does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches.persistent import Sets, search_persistent
from mazurka.stateful.variants import Proviso, Relation
from tests.soundness.amounts import shares
from tests.soundness.reductions import Agreement, Subject, compare_all, consult
from tests.soundness.replaying import replays

STATES = 300
PROGRAMS = shares(60)
PORTION = 15
FIRST = 11_000
OPTIONS = SearchOptions(properties=frozenset({"assert", "deadlock"}), stop_at_first=False)
STRATEGIES = ("stubborn", "lock-patterns", "ample")

portions = pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, PORTION))


def programs(first: int) -> Iterator[tuple[str, Program, StateSpace]]:
    for seed in range(first, first + PORTION):
        subject = Subject(seed)
        program = subject.program()
        whole = explore(program, races=False, limit=STATES)
        if whole.complete:
            yield str(subject), program, whole


@portions
def test_counts_and_verdict_are_the_same(first: int) -> None:
    for name, program, whole in programs(first):
        for relation, proviso in product(Relation, Proviso):
            where = f"{name}, {relation}, {proviso}"
            written = explore_persistent(program, relation=relation, proviso=proviso)
            how = Sets(relation=relation, proviso=proviso)
            found = search_persistent(native(program), OPTIONS, Silent(), how)
            assert found.statistics.states == len(written.states), where
            assert found.statistics.transitions == written.transitions, where
            assert (found.violation is not None) == bool(whole.kinds - {"bound"}), where
            assert ("bound" in written.kinds) == bool(found.limits), where
            if found.violation is not None:
                assert found.violation.kind in whole.kinds, where
                assert replays(program, found.violation), where


@pytest.mark.parametrize("seed", range(FIRST + PROGRAMS, FIRST + 2 * PROGRAMS, 4))
@pytest.mark.parametrize("proviso", list(Proviso))
def test_verdicts_are_those_of_all_interleavings(seed: int, proviso: Proviso) -> None:
    oracle = consult(Subject(seed).program())
    if oracle is None:
        return
    for name in STRATEGIES:
        for comparison in compare_all(oracle, load_strategy(name), proviso=proviso):
            assert comparison.agreement is Agreement.AGREES, str(comparison)
