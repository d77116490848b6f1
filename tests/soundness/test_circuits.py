"""Circuits do what the interpreter and the native code do, on random programs; so do verdicts.

`benchmarks/circuits.py` does the same on many more.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.symbolic import pdr
from mazurka.symbolic.options import INTERLEAVING, OF_STATES
from tests.limits import ENOUGH
from tests.soundness.circuit_agreement import CircuitWalks
from tests.soundness.random_programs import random_program
from tests.soundness.reductions import CHOOSING, STOPPING, Agreement, Subject, compare, consult
from tests.soundness.stubborn_circuits import StubbornCircuit
from tests.soundness.variants import VARIANTS

STATES = 300
"""Programs with more states are left out."""
USUAL = frozenset({"assert", "deadlock"})
RACES = frozenset({"assert", "race"})
ROUNDS = {"sweeps": 8, "full": 14, "partial-order": 14, "transactions": 14, "peephole": 14}
ASKED = (
    ("sweeps", USUAL),
    ("sweeps", RACES),
    ("full", USUAL),
    ("partial-order", USUAL),
    ("transactions", USUAL),
    ("peephole", USUAL),
)


@pytest.mark.parametrize("first", [0, STOPPING, CHOOSING])
def test_a_step_of_the_circuit_is_the_interpreters(first: int) -> None:
    for seed in range(first, first + 6):
        walks = CircuitWalks(Subject(seed).program(), seed, native=seed % 3 == 0)
        assert walks.find_disagreement(4) is None, f"seed {seed}"
        assert walks.steps > 0


def test_numbers_of_64_bits_wrap_around_in_circuits() -> None:
    for seed in range(6):
        program = VARIANTS["prepared"](random_program(Random(seed), faults=True, wide=True))
        walks = CircuitWalks(program, seed, native=False)
        assert walks.find_disagreement(4) is None, f"seed {seed}"


def test_threads_that_fail_stop_where_assertions_are_not_asked_for() -> None:
    decided = 0
    for seed in range(12):
        program = Subject(seed).program()
        if consult(program, STATES) is None:
            continue
        asked = SearchOptions(properties=frozenset({"deadlock"}), limit_seconds=ENOUGH)
        expected = load_strategy("full").run(program, asked, Silent())
        tuned = replace(asked, tuning={"rounds": ROUNDS["sweeps"], "unrolling": 4})
        found = load_strategy("bmc").run(program, tuned, Silent())
        if found.violation is not None or not found.limits:
            assert (found.violation is None) == (expected.violation is None), f"seed {seed}"
            decided += 1
    assert decided > 0


@pytest.mark.parametrize(
    ("name", "first", "many"),
    [
        *product(["pdr", "k-induction", "bdd", "events"], [0, STOPPING, CHOOSING], [4]),
        ("portfolio", STOPPING, 1),
    ],
)
def test_proofs_agree_with_the_unreduced_search(name: str, first: int, many: int) -> None:
    strategy, decided = load_strategy(name), 0
    for seed in range(first, first + many):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None:
            continue
        asked = [("sweeps", USUAL), ("sweeps", RACES)]
        if INTERLEAVING in strategy.options:
            asked.append((OF_STATES[seed % 3], USUAL))
        for interleaving, properties in asked:
            tuning = {"interleaving": interleaving, "rounds": 4, "unrolling": 4}
            options = SearchOptions(properties=properties, tuning=tuning, limit_seconds=ENOUGH)
            found = compare(oracle, strategy, options)
            assert found.agreement is not Agreement.DISAGREES, f"seed {seed}: {found}"
            decided += found.agreement is Agreement.AGREES
    assert decided > 0


def test_diagrams_count_the_states_that_are_reached() -> None:
    counted = 0
    for seed in (*range(6), *range(STOPPING, STOPPING + 3), *range(CHOOSING, CHOOSING + 3)):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None or oracle.reachable(USUAL) or "bound" in oracle.whole.kinds:
            continue
        found = load_strategy("bdd").run(oracle.program, SearchOptions(properties=USUAL), Silent())
        if not found.limits:
            assert found.statistics.states == len(oracle.whole.states), f"seed {seed}"
            counted += 1
    assert counted > 0


def test_proofs_by_lemmas_agree_with_the_unreduced_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdr, "FIRST_QUERIES", 1)
    strategy, decided = load_strategy("pdr"), 0
    for seed in (*range(4), *range(STOPPING, STOPPING + 3), *range(CHOOSING, CHOOSING + 3)):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None:
            continue
        options = SearchOptions(properties=USUAL, tuning={"unrolling": 4}, limit_seconds=ENOUGH)
        found = compare(oracle, strategy, options)
        assert found.agreement is not Agreement.DISAGREES, f"seed {seed}: {found}"
        decided += found.agreement is Agreement.AGREES
    assert decided > 0


@pytest.mark.parametrize("first", [0, STOPPING, CHOOSING])
def test_bounded_searches_agree_with_the_unreduced_search(first: int) -> None:
    strategy, decided = load_strategy("bmc"), 0
    for seed in range(first, first + 8):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None:
            continue
        for interleaving, properties in ASKED:
            tuning = {"interleaving": interleaving, "rounds": ROUNDS[interleaving], "unrolling": 4}
            options = SearchOptions(properties=properties, tuning=tuning, limit_seconds=ENOUGH)
            found = compare(oracle, strategy, options)
            assert found.agreement is not Agreement.DISAGREES, f"seed {seed}: {found}"
            decided += found.agreement is Agreement.AGREES
    assert decided > 0


@pytest.mark.parametrize("patterns", [False, True])
def test_stubborn_sets_of_circuits_are_those_of_the_reference(patterns: bool) -> None:
    reduced = 0
    for first in (0, STOPPING, CHOOSING):
        for seed in range(first, first + 4):
            circuit = StubbornCircuit(Subject(seed).program(), seed, patterns=patterns)
            assert circuit.find_disagreement(5) is None, f"seed {seed}"
            reduced += circuit.reduced
    assert reduced > 0
