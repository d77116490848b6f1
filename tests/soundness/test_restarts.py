"""Threads that are started again while they run: passes keep what happens, reductions find it."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import pytest

from mazurka.ir.passes.validate import validate
from mazurka.ir.program import Program
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.stateful.reference.full import StateSpace, explore
from tests.soundness.amounts import shares
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.random_programs import random_program
from tests.soundness.reductions import Agreement, compare_all, consult
from tests.soundness.restarting import with_restart
from tests.soundness.variants import VARIANTS, difference, prepared

PROGRAMS = shares(60)
PORTION = 30
STATES = 400
EXPLICIT = [*strategy_names("stateful"), *strategy_names("stateless")]
STRATEGIES = [name for name in EXPLICIT if load_strategy(name).sound]

# All tests of one portion follow each other, so that its programs are made and explored once.
portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION), scope="module")


@lru_cache(maxsize=1)
def programs(first: int) -> list[tuple[int, Program, StateSpace]]:
    found = []
    for seed in range(first, first + PORTION):
        rng = Random(seed)
        made = disciplined_program(rng) if seed % 2 else random_program(rng, faults=seed % 4 > 0)
        program = with_restart(made, rng)
        if program is not None:
            validate(program)
            found.append((seed, program, explore(program, limit=STATES)))
    return found


@portions
@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "raw"])
def test_passes_keep_what_happens(first: int, variant: str) -> None:
    for seed, program, whole in programs(first):
        found = difference(program, VARIANTS[variant](program), STATES, whole)
        assert found is None, f"seed {seed}: {found}"


@portions
def test_reductions_find_what_happens(first: int) -> None:
    searches = inconclusive = 0
    for seed, raw, _ in programs(first):
        program = prepared(raw) if seed % 3 == 0 else raw
        oracle = consult(program, STATES)
        if oracle is None:
            continue
        for strategy in map(load_strategy, STRATEGIES):
            for comparison in compare_all(oracle, strategy, turn=seed):
                wrong = comparison.agreement is Agreement.DISAGREES
                assert not wrong, f"seed {seed}: {comparison}"
                searches += 1
                inconclusive += comparison.agreement is Agreement.INCONCLUSIVE
    assert inconclusive <= searches // 50
    assert searches
