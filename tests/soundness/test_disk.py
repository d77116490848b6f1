"""Where states are stored changes no verdict; stored as bits, they prove nothing."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.stateful.beyond_memory import disk_search
from tests.soundness.amounts import shares
from tests.soundness.disk_searches import (
    difference,
    require_no_proof,
    require_shortest,
    search_stored,
)
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.soundness.symmetric_programs import symmetric_program


@pytest.mark.parametrize("most_runs", [2, 16])
@settings(random_programs, max_examples=shares(10))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_counts_and_verdicts_are_those_in_memory(most_runs: int, rng: Random, faults: bool) -> None:
    program = reset_dead_locals(random_program(rng, faults=faults))
    if search_stored(program, limit_transitions=20_000).limits == ("transitions",):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_search, "MOST_RUNS", most_runs)
        assert difference(program) is None


@settings(random_programs, max_examples=shares(13))
@given(rng=st.randoms(use_true_random=False))
def test_counterexamples_are_real_and_shortest(rng: Random) -> None:
    program = reset_dead_locals(random_program(rng))
    if search_stored(program, limit_transitions=20_000).violation is not None:
        require_shortest(program)


@settings(random_programs, max_examples=shares(10))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_bits_prove_nothing_and_find_only_what_is_there(rng: Random, faults: bool) -> None:
    program = reset_dead_locals(random_program(rng, faults=faults))
    if "transitions" not in search_stored(program, limit_transitions=20_000).limits:
        require_no_proof(program, limit_bytes=1 << 22)


@pytest.mark.parametrize("seed", range(4))
def test_stores_keep_one_state_of_each_set_of_renamings(seed: int) -> None:
    program = reset_dead_locals(symmetric_program(Random(seed), faults=seed % 2 == 0))
    if search_stored(program, limit_transitions=5_000).limits:
        return
    assert difference(program, symmetry=True) is None
    require_no_proof(program, limit_bytes=1 << 22, symmetry=True)
