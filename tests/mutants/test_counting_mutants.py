"""Broken bounds of counters: the comparison with the interpreter must catch each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mazurka.ir.expressions import ZERO, Binary, Convert
from mazurka.ir.program import FINISHED, Cell, Program
from mazurka.ir.values import counters, rounds
from tests.soundness.counting_models import CountingModel, escape, read_model
from tests.soundness.restarting import with_restart
from tests.unit.ir.programs import Builder, load, plus, put

PROGRAMS = 60
STATES = 400


def one_step_less(intervals: Sequence[tuple[int, int]], step: int) -> int:
    return max(original_count(intervals, step) - 1, 0)


def any_counter(self: rounds.Paths, inside: Sequence[int]) -> list[int]:
    return [cell for cell, moves in self.advances.items() if moves.keys() & set(inside)]


def only_active(self: rounds.Lives, each: dict[int, int | None]) -> int | None:
    active = [number for number in each if self.analysis.threads[number].start > 2]
    return sum(each[number] or 0 for number in active)


original_count = rounds.count_steps

# name, object, attribute, replacement
MUTANTS: list[tuple[str, Any, str, Any]] = [
    ("a loop has one round less", rounds, "count_steps", one_step_less),
    ("a counter that is set back counts rounds", rounds.Paths, "_ranking_cells", any_counter),
    ("threads are never started again", rounds.Lives, "add_up", only_active),
    ("every cell is dead", counters.Counters, "_is_dead", lambda *a: True),
    ("every sum fits its type", rounds, "find_window", lambda *a: (-(2**63), 2**63 - 1)),
]


def wrapping_counter(rounds: int, start: int) -> Program:
    """A thread that adds one to a number of 8 bits so many times."""
    builder = Builder()
    number = builder.add(Cell("number", 0, 0, start, inferred=True))
    body = builder.thread()
    left = builder.add(Cell("left", 0, 0, rounds, owner=0, inferred=True))
    here = body.at()
    more = Convert(plus(number, 1), 8, True)
    goes_on, ended = (Binary(name, load(left), ZERO) for name in ("gt", "le"))
    body.edge(here, here, put(number, more), put(left, plus(left, -1)), guard=goes_on)
    body.edge(here, FINISHED, guard=ended)
    return builder.program()


@pytest.mark.parametrize(
    ("owner", "name", "replacement"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_mutant_is_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owner: Any, name: str, replacement: Any
) -> None:
    counter = wrapping_counter(rounds=20, start=120)
    assert escape(counter, STATES) is None
    monkeypatch.setattr(owner, name, replacement)
    if escape(counter, STATES) is not None:
        return
    for seed in range(PROGRAMS):
        chance = Random(seed)
        program = read_model(CountingModel(chance).text, tmp_path)
        for other in (program, with_restart(program, chance)):
            if other is not None and escape(other, STATES) is not None:
                return
    pytest.fail("it survives")
