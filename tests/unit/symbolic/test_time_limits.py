"""A time limit holds in every phase of every back end; here the time is up when a phase begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mazurka
from mazurka import deadline
from mazurka.checking import load_program
from mazurka.deadline import Deadline, TimeLimitError
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic import pdr
from mazurka.symbolic.circuit import Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.graphs.graph import Aig
from mazurka.symbolic.lemmas import mining, sampling
from mazurka.symbolic.lemmas.mining import guess_lemmas
from mazurka.symbolic.lemmas.sampling import Samples, sample_states
from mazurka.symbolic.partition import arrange
from mazurka.symbolic.solving import solver as solving
from mazurka.symbolic.solving.solver import SatSolver

ENDLESS = """
from mazurka.model import Int, Mutex
MAX = 2**20
given: Int[0, MAX] = 0
taken: Int[0, MAX] = 0
m = Mutex()
def giver():
    global given
    while True:
        with m:
            if given < MAX:
                given += 1
def taker():
    global taken
    while True:
        with m:
            if taken < given:
                taken += 1
            assert taken <= given
threads = [giver(), taker()]
"""
STRATEGIES = ("bdd", "bmc", "events", "k-induction", "pdr", "portfolio")
PHASES = {
    "encoding the model": STRATEGIES,
    "checking the circuit": ("bmc", "k-induction", "pdr", "portfolio"),
    "sampling states": ("k-induction", "pdr"),
    "collecting facts for invariants": ("k-induction", "pdr"),
    "guessing invariants": ("k-induction", "pdr"),
    "guessing sums over threads": ("pdr",),
    "proving lemmas": ("k-induction", "pdr"),
    "ordering the variables of diagrams": ("bdd",),
}


def search(folder: Path, strategy: str) -> SearchResult:
    """Search as `mazurka bench` does: nobody but the search itself keeps its limit."""
    path = folder / "model.py"
    path.write_text(ENDLESS, encoding="utf-8")
    program = load_program(str(path), Reading())
    options = SearchOptions(properties=frozenset({"assert", "deadlock"}), limit_seconds=3600)
    return load_strategy(strategy).run(program, options, Silent())


def end_at(phase: str) -> Callable[[Deadline], None]:
    """Let the time be up when a phase begins, and note what is looked at afterwards."""

    def check(self: Deadline) -> None:
        if self.phase == phase:
            self.at = self.clock() - 1
        if self.left <= 0:
            raise TimeLimitError(f"the time limit was reached while {self.phase}")

    return check


@pytest.mark.parametrize(
    ("phase", "strategy"), [(phase, each) for phase, some in PHASES.items() for each in some]
)
def test_a_search_ends_in_the_phase_in_which_its_time_is_up(
    phase: str, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdr, "FIRST_QUERIES", 1)  # lemmas are looked for at once
    monkeypatch.setattr(deadline.Deadline, "check", end_at(phase))
    found = search(tmp_path, strategy)
    assert found.violation is None
    assert found.limits == ("time",)


def test_whoever_goes_through_a_graph_looks_at_the_time() -> None:
    graph = Aig()
    leaf, other = graph.add_leaf(), graph.add_leaf()
    both = graph.both(leaf, other)
    values = np.zeros((graph.nodes, 1), np.uint64)
    with deadline.time_limit(0):
        for work in (
            lambda: graph.mark_cone([both]),
            lambda: graph.substitute([both], {leaf: other}),
            lambda: graph.evaluate(values),
        ):
            with pytest.raises(TimeLimitError):
                work()


class Enough(Exception):  # noqa: N818 - raised to stop a solver
    pass


def test_somebody_looks_at_limits_between_quick_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "PULSE_SECONDS", 0.0)
    looks = 0

    def wait(solver: SatSolver) -> None:
        nonlocal looks
        looks += 1
        if looks > 20:
            raise Enough

    def ask_for_ever() -> None:
        with SatSolver(waiting=wait) as solver:
            while True:
                solver.solve([1])

    with pytest.raises(Enough):
        ask_for_ever()


def test_many_clauses_are_handed_over_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "MOST_SENT", 4)
    looks: list[int] = []
    clauses = np.array([1, 2, 3, 4, 5, 6, 0, -1, 0, -2, -3, 0, -4, 0, 0, 7, 0], np.int32)
    with SatSolver(waiting=lambda solver: looks.append(solver.clauses)) as solver:
        solver.add(clauses[:14])
        # Parts end behind the first clause that reaches four numbers: at 7, at 12, at 14.
        assert len(looks) >= 2
        assert solver.clauses == 4
        assert solver.solve()
        assert solver.values([1, 4]) == [0, 0]
        solver.add(clauses[14:])
        assert not solver.solve()


def test_a_check_explains_what_it_can_though_the_time_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.py"
    path.write_text(ENDLESS, encoding="utf-8")
    monkeypatch.setattr(deadline, "LAST_SHARE", -1.0)  # no time is left for that
    verdict = mazurka.check(path, strategy="pdr", explain=True, limit_seconds=3600)
    assert verdict.verdict in ("holds", "inconclusive")
    assert verdict.explanation == ()


def test_no_more_candidates_are_collected_than_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.py"
    path.write_text(ENDLESS, encoding="utf-8")
    circuit = encode(load_program(str(path), Reading()), Interleaving.FULL)
    states = sample_states(circuit)
    every = guess_lemmas(circuit, states)
    monkeypatch.setattr(mining, "MOST_CANDIDATES", 7)
    assert len(every) > 7
    assert guess_lemmas(circuit, states) == every[:7]


def test_large_samples_are_gone_through_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.py"
    path.write_text(ENDLESS, encoding="utf-8")
    circuit = encode(load_program(str(path), Reading()), Interleaving.FULL)
    states = sample_states(circuit)
    whole = Samples.distinguish(circuit, states)
    assert whole.count == len({column.tobytes() for column in np.ascontiguousarray(states.T)})
    literals = [*circuit.nexts, *(latch.literal ^ 1 for latch in circuit.latches), 0, 1]
    values = whole.evaluate(literals)
    monkeypatch.setattr(sampling, "COLUMNS_AT_ONCE", 100)
    monkeypatch.setattr(sampling, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(sampling, "MOST_BYTES", 1)
    parts = Samples.distinguish(circuit, sample_states(circuit))
    assert (parts.bits == whole.bits).all()
    assert (parts.evaluate(literals) == values).all()
    rows = [~whole.bits[place] for place in range(len(circuit.latches))]
    assert (values[len(circuit.nexts) : -2] == rows).all()
    assert not values[-2].any()
    assert values[-1].all()


def test_few_samples_are_left_for_many_predicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_TRUTHS", 40)
    samples = Samples(None, np.zeros((2, 10), np.bool_))  # type: ignore[arg-type]
    assert samples.thin_out(4) is samples
    assert samples.thin_out(8).count == 5


def test_variables_of_an_edge_come_close_to_each_other() -> None:
    assert arrange([3, 1, 2, 0], []) == [3, 1, 2, 0]
    # 0-1-2-3 is a chain; each round moves what is pulled together.
    order = arrange([0, 2, 1, 3], [[0, 1], [1, 2], [2, 3]])
    assert order in ([0, 1, 2, 3], [3, 2, 1, 0])
