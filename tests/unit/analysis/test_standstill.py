"""Threads that stand still at a choice among very many numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.analysis.standstill import examine_standstill, find_failed_assumptions
from mazurka.checking import load_program
from mazurka.ir.interpreter import Interpreter
from mazurka.search.reading import Reading

MODEL = """
from mazurka.model import Int, assume, atomic, await_, choose
flag: bool = False
y: Int[0, 4294967295] = 0
def stands():
    global y
    with atomic():
        y = choose(range(4294967296))
        {}
threads = [stands()]
"""


@pytest.mark.parametrize(
    "condition",
    ["y == 5 and flag", "y % 3 == y % 5 and flag"],
    ids=["some stand for all", "none stand for all"],
)
@pytest.mark.parametrize("kind", ["await_", "assume"])
def test_not_every_outcome_is_tried(tmp_path: Path, kind: str, condition: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(f"{kind}({condition})"), encoding="utf-8")
    program = load_program(str(path), Reading())
    interpreter, state = Interpreter(program), program.initial_state()
    found = examine_standstill(interpreter, state)
    assert found is not None
    if kind == "await_":
        assert found.waiting == found.deadlocked == {0}
    else:
        assert found.stopped == {0}
        assert set(find_failed_assumptions(interpreter, state, 0))


def test_a_sample_that_moves_is_found(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format("await_(y == 4000000000)"), encoding="utf-8")
    program = load_program(str(path), Reading())
    assert examine_standstill(Interpreter(program), program.initial_state()) is None
