"""Deliberately broken exports: each change is noticed in some circuit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.search.reading import Reading
from mazurka.symbolic.aiger import exporting
from mazurka.symbolic.aiger.model import AigerCircuit
from mazurka.symbolic.circuit import Circuit, Interleaving
from tests.soundness.aiger_agreement import find_bad, make_circuit

STUCK = """
from mazurka.model import Mutex
a = Mutex()
b = Mutex()
def one():
    with a:
        with b:
            pass
def two():
    with b:
        with a:
            pass
threads = [one(), two()]
"""
LONG_SECTION = """
from mazurka.model import Int, atomic
x: Int[0, 9] = 0
def counts():
    global x
    with atomic():
        while x < 9:
            x += 1
    assert x < 9
threads = [counts()]
"""


def constrain_last_frames(patch: pytest.MonkeyPatch) -> None:
    """The circuit's own constraint, in every frame of a run: so in its last one, too."""
    original = exporting.export_circuit

    def export(circuit: Circuit, interleaving: Interleaving) -> AigerCircuit:
        constrained = replace(
            circuit, unknown={**circuit.unknown, "constraint": circuit.constraint}
        )
        made = original(constrained, interleaving)
        *bad, constraint = made.bad
        return replace(made, bad=tuple(bad), constraints=(constraint,))

    patch.setattr("tests.soundness.aiger_agreement.export_circuit", export)


def leave_out_unknown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exporting, "list_bad", lambda circuit: dict(circuit.bad))


# name, what is broken, the model, what is bad
MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None], str, set[str]]] = [
    ("a bad frame must be a transition", constrain_last_frames, STUCK, {"deadlock"}),
    ("steps that are not known are left out", leave_out_unknown, LONG_SECTION, {"unrolling"}),
]


@pytest.mark.parametrize(
    ("break_it", "text", "bad"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_a_broken_export_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    break_it: Callable[[pytest.MonkeyPatch], None],
    text: str,
    bad: set[str],
) -> None:
    path = tmp_path / "model.py"
    path.write_text(text, encoding="utf-8")
    program = load_program(str(path), Reading())

    def find() -> frozenset[str] | None:
        asked = frozenset({"assert", "deadlock"})
        return find_bad(make_circuit(program, Interleaving.PEEPHOLE, asked))

    assert find() == bad
    break_it(monkeypatch)
    assert find() != bad
