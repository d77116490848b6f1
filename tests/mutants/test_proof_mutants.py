"""Deliberately broken searches for invariants: what they find is no proof, and that is noticed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import mazurka
from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic import induction, pdr, reaching
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.lemmas import proving
from mazurka.symbolic.lemmas.mining import Lemma
from mazurka.symbolic.lemmas.sampling import Truths
from mazurka.symbolic.solving.property_directed import Cube, Problem, PropertyDirected
from mazurka.symbolic.unrolling import Unroller
from tests.limits import ENOUGH

LOOP = """
from mazurka.model import Int, await_
x: Int[0, 7] = 0
def even():
    global x
    while True:
        await_(x == 0 or x == 2 or x == 4)
        x = x + 1
def odd():
    global x
    while True:
        await_(x == 1 or x == 3)
        x = x + 1
        assert x != 4
threads = [even(), odd()]
"""
NO_PROOF = "no proof"


@lru_cache
def load(folder: Path) -> Program:
    path = folder / "model.py"
    path.write_text(LOOP, encoding="utf-8")
    return load_program(str(path), Reading(merge=False))


def find(folder: Path, strategy: str = "pdr") -> str:
    options = SearchOptions(tuning={"interleaving": "full", "rounds": 20}, limit_seconds=ENOUGH)
    try:
        result = load_strategy(strategy).run(load(folder), options, Silent())
    except InternalError as error:
        return NO_PROOF if "what was found is no" in str(error) else str(error)
    if result.violation is not None:
        return result.violation.kind
    return "inconclusive" if result.limits else "holds"


def push_without_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PropertyDirected, "stays_out", lambda search, cube, level: True)


def block_without_check(patch: pytest.MonkeyPatch) -> None:
    def never(search: PropertyDirected, cube: Cube, level: int, **_: bool) -> Cube:
        return cube

    patch.setattr(PropertyDirected, "find_step_into", never)


def cut_off_the_first_state(patch: pytest.MonkeyPatch) -> None:
    """The first state is in no frame."""
    plain = PropertyDirected.frame_literals

    def find_literals(search: PropertyDirected, level: int) -> list[int]:
        one = search.problem.state[0]
        return plain(search, level) if level else [one, -one]

    patch.setattr(PropertyDirected, "meets_first", lambda search, cube: False)
    patch.setattr(PropertyDirected, "frame_literals", find_literals)


def drop_literals_without_check(patch: pytest.MonkeyPatch) -> None:
    def one(search: PropertyDirected, cube: Cube, level: int) -> Cube:
        return frozenset([next(each for each in sorted(cube) if each not in search.first)])

    patch.setattr(PropertyDirected, "generalize", one)


MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None]]] = [
    ("a clause is pushed without a check", push_without_check),
    ("a cube is blocked without an induction check", block_without_check),
    ("the first state is cut off", cut_off_the_first_state),
    ("literals are dropped without a check", drop_literals_without_check),
]


def search_here(*arguments: object) -> object:
    """Search in this process, where the algorithm has been changed."""
    problem = arguments[1]
    assert isinstance(problem, Problem)
    return PropertyDirected(problem).search()


@pytest.mark.parametrize(
    "break_it", [mutant[1] for mutant in MUTANTS], ids=[mutant[0] for mutant in MUTANTS]
)
def test_a_broken_search_for_invariants_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, break_it: Callable[[pytest.MonkeyPatch], None]
) -> None:
    monkeypatch.setattr(reaching, "ask", search_here)
    assert find(tmp_path) == "assert"
    break_it(monkeypatch)
    assert find(tmp_path) == NO_PROOF
    monkeypatch.setattr(pdr, "check_invariant", lambda *_: None)
    assert find(tmp_path) == "holds"  # it is the check that notices


def test_an_induction_without_its_step_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert find(tmp_path, "k-induction") == "assert"
    plain = induction.StepCase.is_possible
    asked: list[int] = []

    def first_time(step: induction.StepCase, length: int) -> bool:
        asked.append(length)
        return len(asked) > 1 and plain(step, length)

    monkeypatch.setattr(induction.StepCase, "is_possible", first_time)
    assert find(tmp_path, "k-induction") == NO_PROOF


def test_a_step_that_begins_at_the_first_state_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def from_the_first(circuit: Circuit, *, anywhere: bool = False) -> Unroller:
        return Unroller(circuit)

    monkeypatch.setattr(induction, "Unroller", from_the_first)
    assert find(tmp_path, "k-induction") != "assert"


def test_auxiliary_invariants_that_are_none_are_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stay_at_first(circuit: Circuit, *_: object) -> list[Lemma]:
        text = "an auxiliary invariant is not inductive"
        return [Lemma((each.literal ^ 1 ^ each.initial,), text) for each in circuit.latches]

    monkeypatch.setattr(induction, "find_control_invariant", stay_at_first)
    assert find(tmp_path, "k-induction") == NO_PROOF


POLLS = """
from mazurka.model import Int
x: Int[0, 9] = 0
def polls():
    while x < 9:
        pass
    assert False, "nine"
def counts():
    global x
    while x < 9:
        x += 1
threads = [polls(), counts()]
"""


@pytest.mark.parametrize(
    "broken", [False, True], ids=["as it is", "states that differ have nothing in common"]
)
def test_a_step_that_leaves_out_too_many_states_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, broken: bool
) -> None:
    """The thread that polls comes to the same state again; to differ is not to have nothing in
    common."""
    if broken:
        monkeypatch.setattr(
            induction,
            "differ",
            lambda graph, one, other: graph.every(map(graph.differ, one, other)),
        )
    path = tmp_path / "model.py"
    path.write_text(POLLS, encoding="utf-8")
    try:
        verdict = mazurka.check(path, strategy="k-induction", properties=["assert"]).verdict
    except InternalError:
        verdict = NO_PROOF
    assert (verdict == "violated") is not broken


def forget_the_first_state(patch: pytest.MonkeyPatch) -> None:
    def every(circuit: Circuit, lemmas: Sequence[Lemma]) -> list[Lemma]:
        """All of them, and one that makes whatever it is about impossible."""
        first = circuit.latches[0]
        return [
            *lemmas,
            Lemma((first.literal ^ first.initial,), "not as at first"),
            Lemma((first.literal ^ first.initial ^ 1,), "as at first"),
        ]

    patch.setattr(proving, "hold_at_first", every)


def say_the_same_of_now(patch: pytest.MonkeyPatch) -> None:
    """What is asked of the next state is asked of the same one: everything is inductive."""

    def now(primed: proving.Primed, circuit: Circuit, literals: Iterable[int]) -> None:
        primed._of = {literal & ~1: literal & ~1 for literal in literals}

    patch.setattr(proving.Primed, "__init__", now)


def keep_what_is_dropped(patch: pytest.MonkeyPatch) -> None:
    """Candidates that a step violates count as inductive."""

    def possible(proof: proving.LemmaProof, target: int) -> Generator[list[int], bool, bool]:
        wanted = proof._name(proof.bad) if target == proving.BAD else proof.violated[target]
        if target != proving.BAD:
            yield [proof.true, -proof.true]
            return False
        return (yield [*proof.every, wanted])

    patch.setattr(proving.LemmaProof, "_is_possible", possible)


LEMMA_MUTANTS = {
    "the first state is forgotten": forget_the_first_state,
    "lemmas are asked of the state before the step": say_the_same_of_now,
    "a violated lemma is kept": keep_what_is_dropped,
}


@pytest.mark.parametrize("name", LEMMA_MUTANTS)
def test_a_broken_proof_by_lemmas_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr(pdr, "FIRST_QUERIES", 1)
    monkeypatch.setattr(pdr, "sample_states", first_state_alone)
    assert find(tmp_path) == "assert"
    LEMMA_MUTANTS[name](monkeypatch)
    assert find(tmp_path) == NO_PROOF
    monkeypatch.setattr(pdr, "check_invariant", lambda *_: None)
    assert find(tmp_path) == "holds"  # it is the check that notices


def first_state_alone(circuit: Circuit) -> Truths:
    """The only sample: most guesses are wrong then."""
    return np.array([[bool(latch.initial)] for latch in circuit.latches])
