"""Flags that serve as locks get owners; nothing else changes, and reductions stay sound."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mazurka.checking import load_program
from mazurka.ir.passes import flag_locks
from mazurka.ir.passes.flag_locks import own_flag_locks
from mazurka.search import SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from tests.soundness.flag_agreement import find_difference, find_locks
from tests.soundness.flag_programs import random_flags
from tests.soundness.reductions import Agreement, compare, consult
from tests.soundness.variants import VARIANTS

CORPUS = Path(__file__).parents[1] / "corpus" / "holds"
PROPERTIES = frozenset({"assert", "deadlock"})


def test_owners_change_nothing_else() -> None:
    found = 0
    for seed in range(25):
        for variant in ("raw", "prepared"):
            program = VARIANTS[variant](random_flags(Random(seed)))
            assert find_difference(program, 400) is None, f"seed {seed}, {variant}"
            found += bool(find_locks(program))
    assert found >= 10


@pytest.mark.parametrize("name", ["lock-patterns", "cpc"])
@pytest.mark.parametrize("model", ["assumed", "spinning", "accounts"])
def test_fewer_states_are_visited(name: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CORPUS / f"flag_locks_{model}.py"
    options = SearchOptions(properties=PROPERTIES)
    knowing = load_strategy(name).run(load_program(str(path), Reading()), options, Silent())
    monkeypatch.setattr(flag_locks, "_find_flags", lambda program: frozenset())
    plain = load_strategy(name).run(load_program(str(path), Reading()), options, Silent())
    assert knowing.violation is plain.violation is None
    assert knowing.statistics.states < plain.statistics.states


@pytest.mark.parametrize("name", ["lock-patterns", "cpc", "cpc-strict", "optimistic"])
def test_reductions_agree_with_the_unreduced_search(name: str) -> None:
    strategy, decided = load_strategy(name), 0
    for seed in range(18):
        program = VARIANTS["prepared"](random_flags(Random(seed)))
        if not find_locks(program):
            continue
        oracle = consult(own_flag_locks(program), 800)  # classes of cells are told by its locks
        if oracle is None:
            continue
        options = SearchOptions(properties=PROPERTIES)
        found = compare(oracle, strategy, options)
        assert found.agreement is not Agreement.DISAGREES, f"seed {seed}: {found}"
        decided += found.agreement is Agreement.AGREES
    assert decided >= 3
