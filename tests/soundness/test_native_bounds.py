"""The bounds of prefixes in native code against those in Python: the same states, costs and marks.

Both searches run side by side on random programs: after each level they have visited the same
terminal states in the same order, know the same of the same states, and have closed the same ones.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mazurka.compiled.cache import kernel
from mazurka.search import Silent
from mazurka.stateless.bounded import native_bounds
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.context_bound import (
    NEVER,
    Bounds,
    ContextBounds,
    arrivals,
    cost_of,
)
from mazurka.stateless.bounded.hashing import StateHash
from mazurka.stateless.explored import RunOptions
from tests.soundness.amounts import shares
from tests.soundness.simulated_threads import late_program, random_program, resting_program
from tests.unit.stateless.bodies import critical_sections, read_modify_write, writes
from tests.unit.stateless.simulated import Body, Simulated, World

PROGRAMS = shares(120)
PORTION = 40
RUNS = 300
ALL = RunOptions(stop_at_first=False, max_runs=RUNS)
BOUNDS = (0, 1, 2, 3)


@pytest.fixture(autouse=True)
def compiled() -> None:
    """Let the kernel be there: otherwise Python does everything."""
    kernel(native_bounds.KERNEL, Silent())


def begin(program: Simulated, *, native: bool, silently: bool) -> Algorithm2:
    """A search whose second execution is the first to be worked on in native code, or none is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ContextBounds, "usual_native_from", 1 if native else NEVER)
        search = Algorithm2(program, ALL)
        search.begin_anew(silently=silently)
    return search


def known(search: Algorithm2) -> dict[StateHash, tuple[object, ...]]:
    """What is known of each state, in an order that does not depend on how it was found."""

    def tell(bounds: Bounds, threads: int) -> tuple[object, ...]:
        costs = [cost_of(bounds, thread) for thread in range(threads)]
        return bounds[0], bounds[2], sorted(arrivals(bounds)), costs

    bounds = search.bounds
    everything = bounds.known if bounds.native is None else bounds.native.give_back()[0]
    threads = min((len(each) - each[3] for each in everything.values()), default=0)
    return {state: tell(each, threads) for state, each in everything.items()}


def left_open(search: Algorithm2) -> dict[StateHash, int]:
    native = search.bounds.native
    return search.open if native is None else native.give_back()[1]


def assert_same(first: Algorithm2, second: Algorithm2) -> None:
    assert first.terminals == second.terminals
    assert first.closed == second.closed
    assert left_open(first) == left_open(second)
    assert known(first) == known(second)
    assert first.bounds.unseen == second.bounds.unseen
    assert first.explored.limits == second.explored.limits


@pytest.mark.parametrize("silently", [False, True])
@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_native_code_knows_what_python_knows(first: int, silently: bool) -> None:
    compared = 0
    for seed in range(first, first + PORTION):
        several: list[Callable[[int], Simulated]] = [random_program]
        if seed % 4 == 0:
            several += [resting_program, late_program]
        for make in several:
            python = begin(make(seed), native=False, silently=silently)
            native = begin(make(seed), native=True, silently=silently)
            for bound in BOUNDS:
                level = python.explore(bound)
                assert native.explore(bound).executions == level.executions
                assert_same(python, native)
                compared += native.bounds.native is not None
                if not level.complete or level.exhaustive:
                    break
    assert compared > PORTION // 2


@pytest.mark.parametrize(
    ("threads", "bound"),
    [
        ([critical_sections(2)] * 3, 2),
        ([read_modify_write(2)] * 3, 2),
        ([writes("x", "y"), writes("y", "x"), critical_sections(1)], 3),
        ([writes(*"abcdefgh" * 9)] * 2, 1),  # more than 64 events, and then more than 128
        ([writes(*["x"] * 80)] * 2, 1),  # more states of an object than have a bit
    ],
)
def test_larger_programs(threads: list[Callable[[World], Body]], bound: int) -> None:
    searches = [begin(Simulated(threads), native=native, silently=True) for native in (False, True)]
    for level in range(bound + 1):
        python, native = (search.explore(level).executions for search in searches)
        assert native == python
    assert_same(*searches)
    assert searches[1].bounds.native is not None
