"""The native cartesian search does what the one on the interpreter does."""

from __future__ import annotations

from itertools import product

import pytest

from mazurka.ir.native.step import native
from mazurka.search import SearchOptions, Silent
from mazurka.stateful.reference.cartesian import explore_cartesian
from mazurka.stateful.reference.full import explore
from mazurka.stateful.searches.cartesian import Vectors
from mazurka.stateful.searches.cartesian_workers import search_cartesian
from mazurka.stateful.variants import CycleRule, Finished
from tests.soundness.reductions import Subject
from tests.soundness.replaying import replays

STATES = 400
SEEDS = range(9000, 9060)
OPTIONS = SearchOptions(properties=frozenset({"assert", "deadlock"}), stop_at_first=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_and_verdict_are_the_same(seed: int) -> None:
    program = Subject(seed).program()
    whole = explore(program, races=False, limit=STATES)
    if not whole.complete:
        return
    for rule, finished in product(CycleRule, Finished):
        written = explore_cartesian(program, rule=rule, finished=finished)
        how = Vectors(rule=rule, finished=finished)
        found = search_cartesian(native(program), OPTIONS, Silent(), how)
        assert found.statistics.states == len(written.covered)
        counted = written.transitions if rule is CycleRule.TABLE1 else written.moves
        assert found.statistics.transitions == counted
        assert (found.violation is not None) == bool(whole.kinds - {"bound"})
        assert ("bound" in whole.kinds) == bool(found.limits)
        if found.violation is not None:
            assert found.violation.kind in whole.kinds
            assert replays(program, found.violation)
