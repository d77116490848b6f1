"""The example of paper 003 (Fig. 2): the cartesian vector that the paper computes for it."""

from __future__ import annotations

from pathlib import Path

from mazurka.frontend.python import load_model
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.stateful.reference.cartesian import Cartesian, Prefix

FIGURE_2 = """
from mazurka.model import Int, atomic

x: Int[0, 1] = 0
y: Int[0, 7] = 0
z: Int[0, 42] = 0
w: Int[0, 42] = 0
q: Int[0, 42] = 0
private: Int[0, 7] = 0

def first():
    global x, y, z, w
    z = 8
    x = 1
    z = 42
    y = 7
    with atomic():
        w = z

def second():
    global q, private
    q = 8
    with atomic():
        private = y
    q = 42
    with atomic():
        private = x

threads = [first(), second()]
"""


def writes(program: Program, prefix: Prefix) -> list[str]:
    """The shared variables that the steps of a prefix write."""
    return [
        " ".join(
            program.cells[access.address].name
            for access in step.accesses
            if access.write and program.cells[access.address].owner is None
        )
        for _, step in prefix.transitions
    ]


def test_example_2(tmp_path: Path) -> None:
    """Thread 1 stops before `y := 7`, which thread 2 has read, thread 2 before it reads x.

    Two transitions are tried and rejected: 8 in all.
    """
    path = tmp_path / "figure_2.py"
    path.write_text(FIGURE_2, encoding="utf-8")
    program = prepare(load_model(str(path), {}))
    search = Cartesian(program)
    vector = search.calc_cv(program.initial_state())
    assert [writes(program, prefix) for prefix in vector] == [
        ["z", "x", "z"],
        ["q", "private", "q"],
    ]
    assert search.transitions == 8
    assert not any(prefix.infinite for prefix in vector)
