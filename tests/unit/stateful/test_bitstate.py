"""States as bits: never a proof, an honest estimate, and violations that are real."""

from __future__ import annotations

import mmap
from random import Random

import pytest
from searching import shows
from tests.unit.ir.programs import crossed_locks, modular_counters

from mazurka.ir.native.step import native
from mazurka.search import BITSTATE, SearchOptions, Silent
from mazurka.stateful.beyond_memory import bitstate
from mazurka.stateful.beyond_memory.bitstate import Bitstate, estimate_coverage


def search(program: object, limit_bytes: int, **tuning: object) -> Bitstate:
    options = SearchOptions(limit_bytes=limit_bytes, tuning=tuning)
    return Bitstate(native(program), options, Silent())  # type: ignore[arg-type]


@pytest.mark.parametrize("wide", [False, True])
def test_with_bits_enough_all_states_are_visited_and_nothing_is_proven(wide: bool) -> None:
    """7^4 states in 2^22 bits: a new state is taken for another with a chance below 10^-8."""
    made = search(modular_counters(4, 7, wide=wide), 1 << 20)
    assert made.store.bits == 64 * 2**16
    result = made.run()
    assert result.statistics.states == 7**4
    assert result.statistics.transitions == 4 * 7**4
    assert result.limits == (BITSTATE,)
    assert result.violation is None
    assert result.statistics.coverage is not None
    assert 0.999 < result.statistics.coverage <= 1


def test_with_few_bits_states_are_missed_and_the_estimate_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """14^4 states and 2^16 bits: fewer than two bits for each of the 38,416 states."""
    monkeypatch.setattr(bitstate, "TABLE_SHARE", 0.002)
    made = search(modular_counters(4, 14), 1 << 22)
    assert made.store.bits == 2**16
    result = made.run()
    assert result.statistics.states < 0.9 * 14**4
    assert result.limits == (BITSTATE,)
    assert result.statistics.coverage is not None
    assert result.statistics.coverage < 0.9


@pytest.mark.parametrize("hashes", [1, 2, 3, 5])
@pytest.mark.parametrize("load", [0.01, 0.1, 0.4])
def test_the_estimate_is_what_happens_to_random_bits(hashes: int, load: float) -> None:
    """A simulation with 2^15 bits in which a state sets random ones; states met once each."""
    rng, size = Random(hashes * 100 + int(load * 100)), 1 << 15
    bits, stored, met = [False] * size, 0, int(load * size)
    for _ in range(met):
        places = [rng.randrange(size) for _ in range(hashes)]
        if not all(bits[place] for place in places):
            stored += 1
            for place in places:
                bits[place] = True
    # The standard deviation of what is missed is below the square root of the states met.
    assert abs(stored / met - estimate_coverage(stored, size, hashes)) < 4 / met**0.5


def test_hashes_are_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """6,561 states in 2^16 bits: one bit each misses 5 % of them, three bits less than 1 %."""
    monkeypatch.setattr(bitstate, "TABLE_SHARE", 0.002)
    one = search(modular_counters(4, 9), 1 << 22, hashes=1).run().statistics
    three = search(modular_counters(4, 9), 1 << 22, hashes=3).run().statistics
    assert one.states < 0.98 * 9**4 < three.states


def test_a_small_model_takes_little_memory_whatever_the_limit_is() -> None:
    """81 states set 243 bits, each in a page of its own at most."""
    made = search(modular_counters(4, 3), 1 << 32)
    assert made.store.bits == 64 * 2**28
    statistics = made.run().statistics
    assert statistics.states == 3**4
    assert statistics.peak_bytes < 3 * (3**4) * mmap.PAGESIZE + 100_000


def test_what_is_found_is_real() -> None:
    program = crossed_locks()
    found = search(program, 1 << 16).run().violation
    assert found is not None
    assert shows(program, found)


def test_the_stack_may_become_too_high() -> None:
    """One counter, round and round: the stack has all its 5,000 states, 24 bytes each."""
    result = search(modular_counters(1, 5000), 1 << 16).run()
    assert result.limits == ("memory", BITSTATE)
