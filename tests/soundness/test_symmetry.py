"""Interchangeable threads are interchangeable, and one state of all renamings is enough."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.stateful.variants import Proviso
from tests.soundness.amounts import shares
from tests.soundness.profiles import random_programs
from tests.soundness.renaming import (
    RELATIONS,
    draw_keeping,
    draw_started,
    draw_subject,
    require_automorphisms,
    require_gathered,
    require_one_of_each,
    require_persistent,
)

seeds = st.integers(0, 2**32)


@settings(random_programs, max_examples=shares(20))
@given(seed=seeds, faults=st.booleans(), leaks=st.booleans())
def test_renamings_map_steps_to_steps(seed: int, faults: bool, leaks: bool) -> None:
    subject = draw_subject(Random(seed), faults=faults, leaks=leaks)
    if subject is not None:
        require_automorphisms(subject)


@settings(random_programs, max_examples=shares(20))
@given(seed=seeds, faults=st.booleans(), order=st.sampled_from(("dfs", "bfs")))
def test_one_state_of_each_set_of_renamings_is_searched(
    seed: int, faults: bool, order: str
) -> None:
    subject = draw_subject(Random(seed), faults=faults)
    if subject is not None:
        require_one_of_each(subject, order)


@pytest.mark.parametrize("strategy", RELATIONS)
@settings(random_programs, max_examples=shares(10))
@given(seed=seeds, faults=st.booleans(), proviso=st.sampled_from(Proviso))
def test_persistent_sets_lose_nothing(
    strategy: str, seed: int, faults: bool, proviso: Proviso
) -> None:
    subject = draw_subject(Random(seed), faults=faults)
    if subject is not None:
        require_persistent(subject, strategy, proviso)


@settings(random_programs, max_examples=shares(13))
@given(
    seed=seeds,
    faults=st.booleans(),
    strategy=st.sampled_from(list(RELATIONS)),
    proviso=st.sampled_from(Proviso),
)
def test_chains_of_starts_and_joins_lose_nothing(
    seed: int, faults: bool, strategy: str, proviso: Proviso
) -> None:
    subject = draw_started(Random(seed), faults=faults)
    if subject is not None:
        require_gathered(subject, strategy, proviso)


@settings(random_programs, max_examples=shares(13))
@given(seed=seeds, faults=st.booleans(), order=st.sampled_from(("dfs", "bfs")))
def test_classes_that_share_cells(seed: int, faults: bool, order: str) -> None:
    subject = draw_keeping(Random(seed), faults=faults)
    if subject is not None:
        require_automorphisms(subject)
        require_one_of_each(subject, order)
        require_persistent(subject, "stubborn", Proviso.STACK)
