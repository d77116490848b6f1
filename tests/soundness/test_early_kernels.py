"""Kernels in plain Python do what the same kernels do in machine code, and give way to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from mazurka.compiled.plain import MASK, MachineWord, make_number, make_word
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames
from mazurka.search import SearchOptions, SearchResult, Silent, Statistics
from mazurka.search.registry import load_strategy
from mazurka.stateful.compiled import early_kernel
from tests.soundness.amounts import shares
from tests.soundness.ltl_agreement import NESTED, search_by
from tests.soundness.reductions import Subject
from tests.soundness.shared_searches import EVERYTHING, FIRST
from tests.soundness.test_ltl import TURNS, program_of

ASSERTIONS = replace(EVERYTHING, properties=frozenset({"assert", "deadlock"}), order="dfs")
SEARCHES = {
    "depth first": ("full", replace(EVERYTHING, order="dfs")),
    "breadth first": ("full", FIRST),
    "persistent sets": ("stubborn", ASSERTIONS),
    "transactions": ("transactions", ASSERTIONS),
    "cartesian": ("cartesian", replace(ASSERTIONS, order="bfs")),
}


def never(name: str) -> bool:
    return False


def after(calls: int) -> Callable[[str], bool]:
    """Machine code that is there from some call on."""
    asked = count()
    return lambda name: next(asked) >= calls


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], bool]], None]:
    """Say when there is machine code; slices are short, so that it may come in the middle."""
    monkeypatch.setattr(early_kernel, "compile_aside", lambda name: None)
    monkeypatch.setattr(early_kernel, "LONGEST_SLICE", 5)
    monkeypatch.setattr(early_kernel, "MOST_TRANSITIONS", 1 << 30)
    return lambda ready: monkeypatch.setattr(early_kernel, "is_compiled", ready)


def search(name: str, options: SearchOptions, seed: int) -> SearchResult:
    found = load_strategy(name).run(Subject(seed).program(), options, Silent())
    rounds = [replace(each, statistics=timeless(each.statistics)) for each in found.rounds]
    return replace(found, statistics=timeless(found.statistics), rounds=tuple(rounds))


def timeless(statistics: Statistics) -> Statistics:
    return replace(statistics, seconds=0.0)


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_find_the_same(name: str, plain: Callable[..., None]) -> None:
    strategy, options = SEARCHES[name]
    larger = 0
    for seed in range(61_000, 61_000 + shares(3)):
        expected = search(strategy, options, seed)
        for ready in (never, after(2 + seed % 5)):
            plain(ready)
            assert search(strategy, options, seed) == expected, f"{name}, seed {seed}"
        plain(lambda name: True)
        larger += expected.statistics.states > 20
    assert larger


def test_temporal_formulas(plain: Callable[..., None]) -> None:
    program = program_of(TURNS)
    for text in ("G F x == 1", "F G x == 1", "G (x == 1 -> F y == 1)"):
        formula = parse_formula(text, ProgramNames(program))
        expected = search_by(NESTED, program, formula, fair=True)
        plain(never)
        found = search_by(NESTED, program, formula, fair=True)
        plain(lambda name: True)
        assert (found.violation, found.limits) == (expected.violation, expected.limits)
        assert found.statistics.states == expected.statistics.states


def test_a_long_search_waits_for_machine_code(
    plain: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(never)
    monkeypatch.setattr(early_kernel, "MOST_TRANSITIONS", 5)
    waited: list[str] = []
    kernel = early_kernel.kernel

    def wait(name: str, observer: Silent) -> object:
        waited.append(name)
        return kernel(name, observer)

    monkeypatch.setattr(early_kernel, "kernel", wait)
    strategy, options = SEARCHES["depth first"]
    search(strategy, options, 61_000)
    assert waited == ["depth_first"]


def test_words_wrap_around() -> None:
    top = make_word(-1)
    assert top == MASK
    assert top + MachineWord(1) == 0
    assert MachineWord(0) - MachineWord(1) == top
    assert top * MachineWord(2) == MASK - 1
    assert ~MachineWord(0) == top
    assert -MachineWord(1) == top
    assert MachineWord(1) << MachineWord(63) == 1 << 63
    assert MachineWord(3) << MachineWord(63) == 1 << 63
    assert all(
        type(each) is MachineWord for each in (top >> MachineWord(1), top & 1, 1 | top, top ^ top)
    )
    assert make_number(top) == -1
    assert make_number(1 << 62) == 1 << 62
