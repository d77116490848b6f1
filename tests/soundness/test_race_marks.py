"""Marks make exactly the races of a program faults, on random programs.

`benchmarks/race_marks.py` does the same on many more.
"""

from __future__ import annotations

import pytest

from mazurka.analysis.racing import find_racing_cells
from mazurka.ir.expressions import ONE, ZERO, Binary
from mazurka.ir.program import FINISHED, Kind
from mazurka.stateful.reference.full import explore
from tests.soundness.marked_races import REFUSED, SORTS, disagreement, program_of
from tests.unit.ir.programs import Builder, put

STATES = 250
PROGRAMS = 40
FIRST = 700


@pytest.mark.parametrize("sort", SORTS)
def test_marked_programs_fail_where_steps_race(sort: str) -> None:
    races = refused = compared = 0
    for seed in range(FIRST, FIRST + PROGRAMS):
        program = program_of(sort, seed)
        if program is None:
            continue
        whole = explore(program, limit=STATES)
        if not whole.complete:
            continue
        cells = find_racing_cells(program)
        assert {address for *_, address in whole.races} <= cells, (sort, seed)
        wrong = disagreement(program, whole)
        refused += wrong == REFUSED
        assert wrong in (None, REFUSED), (sort, seed, wrong)
        races += bool(whole.races)
        compared += 1
    assert races
    assert refused <= compared // 8


def test_a_declaration_that_fails_is_the_step_that_fails() -> None:
    """The failing move looks like the one before it, which has nothing to do with it."""
    program = program_of("restarting", 20_008)
    assert program is not None
    assert disagreement(program, explore(program)) is None


def test_a_division_of_constants_by_zero_stays_an_exception() -> None:
    """Nothing in the program is taken for a value outside its range, which is another fault."""
    builder = Builder()
    first, second = builder.thread(), builder.thread()
    x = builder.shared("x", 0, 1)
    first.edge(first.at(), FINISHED, put(x, 1), kind=Kind.ACCESS)
    divided = put(x, Binary("div", ONE, ZERO))
    second.edge(second.at(), FINISHED, divided, kind=Kind.ACCESS)
    program = builder.program()
    whole = explore(program)
    assert whole.kinds == {"exception"}
    assert disagreement(program, whole) is None
