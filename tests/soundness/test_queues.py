"""Queues whose ends are independent: nothing is lost, and queues without a bound are endless."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from mazurka.analysis.channels import find_channels
from mazurka.analysis.laws import MoverUse
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent
from mazurka.stateful.reference.cpc import assert_theorem_2, explore_transactions
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.searches.persistent import Sets, search_persistent
from mazurka.stateful.searches.transactions import TransactionSearch
from mazurka.stateful.variants import Completion, Proviso, Relation, Transaction
from tests.soundness.queue_bounds import kinds_beside_full_queues
from tests.soundness.queue_programs import queue_program
from tests.soundness.sharpening import sharpen
from tests.soundness.test_persistent_sets import assert_nothing_is_lost, assert_persistent
from tests.soundness.variants import prepared

STATES = 200
PROGRAMS = 40
FIRST = 5_000
OPTIONS = SearchOptions(properties=frozenset({"assert", "deadlock"}), stop_at_first=False)
MUCH = 6
"""Slots that programs as small as these do not fill."""


@pytest.fixture(scope="module")
def programs() -> list[tuple[str, Program, StateSpace]]:
    return list(small_queue_programs(range(FIRST, FIRST + PROGRAMS)))


def small_queue_programs(seeds: range) -> Iterator[tuple[str, Program, StateSpace]]:
    for seed in seeds:
        rng = Random(seed)
        program = sharpen(queue_program(rng), rng, STATES)
        if seed % 2:
            program = prepared(program)
        whole = explore(program, limit=STATES)
        if whole.complete:
            yield f"seed {seed}", program, whole


def test_every_set_is_persistent(programs: list[tuple[str, Program, StateSpace]]) -> None:
    for name, program, whole in programs:
        assert_persistent(name, program, whole)


def test_nothing_is_lost_or_added(programs: list[tuple[str, Program, StateSpace]]) -> None:
    for name, program, whole in programs:
        assert_nothing_is_lost(name, program, whole)


def test_the_native_search_does_the_same(programs: list[tuple[str, Program, StateSpace]]) -> None:
    for name, program, _ in programs[::2]:
        for relation, proviso in product(Relation, Proviso):
            where = f"{name}, {relation}, {proviso}"
            written = explore_persistent(program, relation=relation, proviso=proviso)
            how = Sets(relation=relation, proviso=proviso)
            found = search_persistent(native(program), OPTIONS, Silent(), how)
            assert found.statistics.states == len(written.states), where
            assert found.statistics.transitions == written.transitions, where
            assert (found.violation is not None) == bool(written.kinds - {"bound"}), where


@pytest.mark.parametrize("mover_use", MoverUse)
def test_transactions_lose_nothing(
    programs: list[tuple[str, Program, StateSpace]], mover_use: MoverUse
) -> None:
    """Puts by an only writer and gets by an only reader do not end a transaction."""
    asked = {"assert"} if mover_use is MoverUse.FULL else {"assert", "deadlock"}
    how = Transaction(completion=Completion.COMMIT_POINTS, mover_use=mover_use)
    options = replace(OPTIONS, properties=frozenset(asked))
    for number, (name, program, whole) in enumerate(programs):
        done, _ = explore_transactions(program, how.completion, mover_use=mover_use)
        assert_theorem_2(done)
        ignored = {"hang", "race", "deadlock"} - asked
        expected = kinds_beside_full_queues(program, whole) - ignored - {"bound"}
        assert done.kinds - ignored - {"bound"} == expected, name
        if number % 4 == 0:
            found = TransactionSearch(native(program), options, Silent(), how).run()
            assert found.statistics.states == len(done.states), name
            assert found.statistics.transitions == done.transitions, name


def test_most_queues_are_channels_and_save_states(
    programs: list[tuple[str, Program, StateSpace]],
) -> None:
    assert sum(len(find_channels(program).channels) for _, program, _ in programs) > len(programs)
    all_states = sum(len(whole.states) for _, _, whole in programs)
    reduced = sum(len(explore_persistent(program).states) for _, program, _ in programs)
    assert 3 * reduced < 2 * all_states
    searches = (
        explore_transactions(program, Completion.COMMIT_POINTS)[0] for _, program, _ in programs
    )
    assert 5 * sum(len(search.states) for search in searches) < 4 * all_states


def test_queues_without_a_bound_are_endless() -> None:
    """A search that passes no bound has found what happens where the queues have more slots."""
    answered = 0
    for seed in range(4 * PROGRAMS):
        few = queue_program(Random(seed), room=1)
        search = explore_persistent(few, limit=STATES)
        if not search.complete or "bound" in search.kinds:
            continue
        whole = explore(queue_program(Random(seed), room=MUCH), races=False, limit=4 * STATES)
        if whole.complete and "bound" not in whole.kinds:
            assert search.kinds == whole.kinds, seed
            answered += "bound" in explore(few, races=False).kinds
    assert answered
