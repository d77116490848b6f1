"""Guessed invariants: equations among samples, what is inductive of them, and proofs over words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.limits import ENOUGH

from mazurka.bench.harness import MODELS
from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic import pdr
from mazurka.symbolic.circuit import Circuit, Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.environment import BINARY
from mazurka.symbolic.invariants import check_invariant, find_unused_codes
from mazurka.symbolic.lemmas import proving
from mazurka.symbolic.lemmas.contributions import solve
from mazurka.symbolic.lemmas.mining import Lemma, guess_lemmas
from mazurka.symbolic.lemmas.proving import (
    LEMMA_SOLVER,
    find_control_invariant,
    prove_by_lemmas,
)
from mazurka.symbolic.lemmas.relations import (
    find_equations,
    find_null_space,
    keep_independent,
)
from mazurka.symbolic.lemmas.sampling import sample_states
from mazurka.symbolic.solving.solver import SatSolver

STEP = """
from mazurka.model import Int, Mutex
MAX = 2**32 - 1
given: Int[0, MAX] = 0
taken: Int[0, MAX] = 0
m = Mutex()
def giver():
    global given
    while True:
        with m:
            if given - taken < 3 and given < MAX:
                given += 1
def taker():
    global taken
    while True:
        with m:
            if taken < given:
                taken += 1
            assert given - taken <= LIMIT
LIMIT = 3
threads = [giver(), taker()]
"""


def make_circuit(folder: Path, **constants: str) -> Circuit:
    path = folder / "model.py"
    path.write_text(STEP, encoding="utf-8")
    program = load_program(str(path), Reading(definitions=constants))
    return encode(program, Interleaving.FULL, counters=BINARY)


def find_bad(circuit: Circuit) -> int:
    return circuit.graph.some([*circuit.bad.values(), *circuit.unknown.values()])


def prove(circuit: Circuit, lemmas: list[Lemma]) -> list[Lemma] | None:
    known = find_unused_codes(circuit)
    with SatSolver(LEMMA_SOLVER) as solver:
        questions = prove_by_lemmas(circuit, lemmas, known, find_bad(circuit), solver)
        assumptions = next(questions)
        while True:
            try:
                assumptions = questions.send(solver.solve(assumptions))
            except StopIteration as end:
                found: list[Lemma] | None = end.value
                return found


def check(folder: Path, limit: int, patch: pytest.MonkeyPatch) -> SearchResult:
    """Look for a proof by lemmas at once."""
    patch.setattr(pdr, "FIRST_QUERIES", 1)
    path = folder / "model.py"
    path.write_text(STEP, encoding="utf-8")
    program = load_program(str(path), Reading(definitions={"LIMIT": str(limit)}))
    options = SearchOptions(properties=frozenset({"assert", "deadlock"}), limit_seconds=ENOUGH)
    return load_strategy("pdr").run(program, options, Silent())


def test_null_space() -> None:
    # x = 2 y and z = 5 in all samples: the differences have no z, and x twice as often as y.
    assert find_null_space([[2, 1, 0], [4, 2, 0]], 3) in ([[1, -2, 0], [0, 0, 1]],)
    assert find_null_space([[1, 0], [0, 1]], 2) == []
    assert find_null_space([], 2) == [[1, 0], [0, 1]]


def test_a_few_samples_say_what_all_say() -> None:
    rows = np.array([[1, 2, 3], [2, 4, 6], [0, 1, 1], [1, 3, 4], [-5, 0, -5]], np.int64)
    kept = keep_independent(rows)
    assert len(kept) == 2
    assert find_null_space(kept.tolist(), 3) == find_null_space(rows.tolist(), 3)
    assert keep_independent(np.zeros((4, 3), np.int64)).shape == (0, 3)


def test_equations_of_samples() -> None:
    rows = np.array([[3, 1, 2], [5, 4, 1], [9, 2, 7], [0, 0, 0]], np.int64)
    assert find_equations([10, 11, 12], rows) == [(((10, 1), (11, -1), (12, -1)), 0)]
    assert find_equations([10, 11, 12], rows[:2]) == []  # too few say anything


def test_walks_drop_what_single_frames_drop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest inductive part is the same, however it is found."""
    circuit = make_circuit(tmp_path)
    known = find_unused_codes(circuit)
    few = np.array([[bool(latch.initial)] for latch in circuit.latches])
    monkeypatch.setattr(proving, "sample_states", lambda _: few)  # most guesses are wrong then
    found, questions = [], []
    solve = SatSolver.solve

    def count(solver: SatSolver, assumptions: Sequence[int] = ()) -> bool:
        questions[-1] += 1
        return solve(solver, assumptions)

    monkeypatch.setattr(SatSolver, "solve", count)
    for frames in (1, 32):
        monkeypatch.setattr(proving, "WALK_FRAMES", frames)
        questions.append(0)
        found.append(find_control_invariant(circuit, known))
    assert found[0] == found[1]
    assert found[0]
    assert questions[1] < questions[0]


def test_wide_counters_in_step_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = check(tmp_path, 3, monkeypatch)
    assert result.violation is None
    assert not result.limits
    assert "inductive invariant" in (result.statistics.proof or "")


def test_a_bound_that_is_too_small_is_violated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = check(tmp_path, 1, monkeypatch)
    assert result.violation is not None
    assert result.violation.kind == "assert"


def test_lemmas_of_a_proof_are_checked(tmp_path: Path) -> None:
    circuit = make_circuit(tmp_path)
    guessed = guess_lemmas(circuit, sample_states(circuit))
    lemmas = prove(circuit, guessed)
    assert lemmas is not None
    assert 0 < len(lemmas) < len(guessed)
    clauses = [lemma.literals for lemma in lemmas]
    known, bad = find_unused_codes(circuit), find_bad(circuit)
    check_invariant(circuit, known, bad, lemmas=clauses)
    with pytest.raises(InternalError, match="no inductive invariant"):
        check_invariant(circuit, known, bad, lemmas=clauses[: len(clauses) // 2])
    first = circuit.latches[0]
    wrong = first.literal ^ first.initial
    with pytest.raises(InternalError, match="first state is outside"):
        check_invariant(circuit, known, bad, lemmas=[*clauses, (wrong,)])


def test_guesses_that_are_wrong_are_dropped(tmp_path: Path) -> None:
    """One sample contradicts nothing, so that nearly all guesses are wrong."""
    circuit = make_circuit(tmp_path)
    one = np.array([[bool(latch.initial)] for latch in circuit.latches])
    assert prove(circuit, guess_lemmas(circuit, one)) is None


def test_what_a_thread_remembers_while_it_is_unchanged() -> None:
    """A sequence lock: what was read belongs together if the number is the same as before."""
    model = MODELS / "symbolic" / "seqlock.py"
    program = load_program(str(model), Reading(definitions={"MOST": "255"}))
    steps, rounds = (
        encode(program, each, counters=BINARY) for each in (Interleaving.FULL, Interleaving.SWEEPS)
    )
    lemmas = prove(steps, guess_lemmas(steps, sample_states(rounds)))
    assert lemmas is not None
    said = [each.literals for each in lemmas]
    check_invariant(steps, find_unused_codes(steps), find_bad(steps), lemmas=said)
    assert any("and sequence = reads's before then" in each.text for each in lemmas)


def test_factors_of_a_sum() -> None:
    # a = 7 + b - 2 c; the last column says what b says, and is not needed.
    rows = np.array([[1, 5, 2, 5], [1, 0, 3, 0], [1, 9, 9, 9], [1, 4, 0, 4], [1, 2, 1, 2]] * 5)
    wanted = 7 + rows[:, 1] - 2 * rows[:, 2]
    assert solve(rows, wanted) == [7, 1, -2, 0]
    assert solve(rows, 7 + rows[:, 1] * rows[:, 2]) is None
    assert solve(rows, 7 + 100 * rows[:, 1]) is None


DRAWN = """
from mazurka.model import Int, fetch_add
MAX = 2**32 - 1
drawn: Int[0, MAX] = 0
served: Int[0, MAX] = 0
def customer():
    while drawn < MAX - LEAVES:
        fetch_add(drawn, 1)
        assert served < drawn
        fetch_add(served, 1)
LEAVES = 2
threads = [customer(), customer()]
"""


@pytest.mark.parametrize(("leaves", "holds"), [(1, True), (0, False)])
def test_what_threads_contribute(tmp_path: Path, leaves: int, holds: bool) -> None:
    """As many are drawn and not served as threads are between the two; and when one of them has
    seen that there is room for `leaves` + 1 more, two may draw."""
    path = tmp_path / "model.py"
    path.write_text(DRAWN, encoding="utf-8")
    circuit = encode(
        load_program(str(path), Reading(definitions={"LEAVES": str(leaves)})),
        Interleaving.FULL,
        counters=BINARY,
    )
    lemmas = prove(circuit, guess_lemmas(circuit, sample_states(circuit)))
    assert (lemmas is not None) == holds
    if lemmas is not None:
        said = [each.literals for each in lemmas]
        check_invariant(circuit, find_unused_codes(circuit), find_bad(circuit), lemmas=said)
        texts = [each.text for each in lemmas]
        assert any("(1 if customer is at location" in each and " = " in each for each in texts)
        assert any(each.endswith(f"<= {2**32 - 1 - leaves - 1 + 2}") for each in texts)
