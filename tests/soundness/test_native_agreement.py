"""Interpreter and native code do the same on random programs: states, footprints, faults."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.ir.passes.validate import validate
from mazurka.stateful.reference.full import explore
from tests.soundness.agreement import disagreement
from tests.soundness.amounts import shares
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.soundness.variants import VARIANTS, difference

pytestmark = pytest.mark.optimized

STATES = 800


@pytest.mark.parametrize("variant", VARIANTS)
@settings(random_programs, max_examples=shares(20))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_native_code_agrees_with_the_interpreter(variant: str, rng: Random, faults: bool) -> None:
    program = VARIANTS[variant](random_program(rng, faults=faults))
    validate(program)
    assert disagreement(program, STATES) is None


@settings(random_programs, max_examples=shares(6))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_numbers_of_64_bits_wrap_around_alike(rng: Random, faults: bool) -> None:
    raw = random_program(rng, faults=faults, wide=True)
    for variant in ("raw", "prepared"):
        assert disagreement(VARIANTS[variant](raw), STATES // 4) is None
    assert difference(raw, VARIANTS["prepared"](raw), STATES // 2) is None


@settings(random_programs, max_examples=shares(75))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_passes_change_nothing_that_can_be_seen(rng: Random, faults: bool) -> None:
    raw = random_program(rng, faults=faults)
    whole = explore(raw, limit=STATES)
    for change in VARIANTS.values():
        assert difference(raw, change(raw), STATES, whole) is None


@settings(random_programs, max_examples=shares(50))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_folding_and_lock_proofs_keep_the_state_graph(rng: Random, faults: bool) -> None:
    raw = random_program(rng, faults=faults)
    whole = explore(raw, limit=STATES)
    changed = explore(VARIANTS["folded"](raw), limit=STATES)
    if whole.complete:
        assert list(changed.states) == list(whole.states)
        assert changed.transitions == whole.transitions
