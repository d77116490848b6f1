"""Exported circuits say the same of random programs as the interpreter does, and as ABC does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.symbolic.circuit import Interleaving
from tests.soundness.aiger_agreement import ABC, ask_abc, find_bad, make_circuit
from tests.soundness.reductions import CHOOSING, STOPPING, Subject, consult

STATES = 120
EXPORTED = tuple(each for each in Interleaving if each is not Interleaving.EARLIEST_SWEEPS)
PROPERTIES = frozenset({"assert", "deadlock"})


def test_what_is_bad_in_a_circuit_is_bad_in_the_program() -> None:
    compared = bad = 0
    for seed in (*range(3), *range(STOPPING, STOPPING + 2), CHOOSING):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None:
            continue
        for interleaving in EXPORTED:
            found = find_bad(make_circuit(oracle.program, interleaving, PROPERTIES))
            if found is None or found & {"unrolling", "bound"}:
                continue
            real = oracle.reachable(PROPERTIES)
            assert bool(found) == bool(real), f"seed {seed}, {interleaving}: {found}, not {real}"
            compared, bad = compared + 1, bad + bool(found)
    assert compared > bad > 0


@pytest.mark.skipif(ABC is None, reason="ABC is not installed")
def test_abc_finds_the_same(tmp_path: Path) -> None:
    answers = set()
    for seed in range(3):
        oracle = consult(Subject(seed).program(), STATES)
        if oracle is None:
            continue
        for interleaving in (Interleaving.SWEEPS, Interleaving.PEEPHOLE):
            circuit = make_circuit(oracle.program, interleaving, PROPERTIES)
            if "unrolling" in circuit.symbols.values():
                continue
            found, _ = ask_abc(circuit, tmp_path)
            assert found == bool(oracle.reachable(PROPERTIES)), f"seed {seed}, {interleaving}"
            answers.add(found)
    assert answers
