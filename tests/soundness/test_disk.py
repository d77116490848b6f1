"""Where states are stored changes no verdict; stored as bits, they prove nothing."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.search import BITSTATE
from mazurka.stateful.beyond_memory import disk_search
from tests.soundness.disk_searches import difference, search_disk, search_stored
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.soundness.replaying import replays


@pytest.mark.parametrize("most_runs", [2, 16])
@settings(random_programs, max_examples=20)
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_counts_and_verdicts_are_those_in_memory(most_runs: int, rng: Random, faults: bool) -> None:
    program = reset_dead_locals(random_program(rng, faults=faults))
    if search_stored(program, limit_transitions=20_000).limits == ("transitions",):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_search, "MOST_RUNS", most_runs)
        assert difference(program) is None


@settings(random_programs, max_examples=25)
@given(rng=st.randoms(use_true_random=False))
def test_counterexamples_are_real_and_shortest(rng: Random) -> None:
    program = reset_dead_locals(random_program(rng))
    memory = search_stored(program, limit_transitions=20_000)
    if memory.violation is None:
        return
    found = search_disk(program).violation
    assert found is not None
    assert replays(program, found)
    if "hang" in (found.kind, memory.violation.kind):
        return  # its schedule goes on to the loops, and round them
    lengths = [
        len(each.path) - (each.kind not in ("deadlock", "race"))
        for each in (found, memory.violation)
    ]
    assert lengths[0] == lengths[1]


@settings(random_programs, max_examples=20)
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_bits_prove_nothing_and_find_what_is_there(rng: Random, faults: bool) -> None:
    """A table of 2^10 words has room for all states of a small program: nothing is missed but by an
    unlucky hash, which these programs do not have."""
    program = reset_dead_locals(random_program(rng, faults=faults))
    memory = search_stored(program, limit_transitions=20_000, stop_at_first=False)
    if "transitions" in memory.limits:
        return
    bits = search_stored(program, store="bitstate", limit_bytes=1 << 22, stop_at_first=False)
    assert BITSTATE in bits.limits
    assert bits.statistics.states <= memory.statistics.states
    assert bits.statistics.coverage is not None
    if bits.violation is not None:
        assert memory.violation is not None
        assert replays(program, bits.violation)
