"""Programs that are too large for a search are refused, not searched in part."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import Builder, modular_counters, put

from mazurka.errors import UnsupportedError
from mazurka.ir.expressions import Choice
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.program import FINISHED, Kind, Program
from mazurka.search import SearchOptions
from mazurka.stateful.compiled import view
from mazurka.stateful.compiled.view import ProgramView

RACES = SearchOptions(properties=frozenset({"race"}))


def choosing(outcomes: int) -> Program:
    builder = Builder()
    x = builder.shared("x", 0, outcomes)
    body = builder.thread()
    body.edge(body.at(), FINISHED, put(x, Choice()), kind=Kind.CHOOSE, choices=outcomes)
    return builder.program()


def refusal(program: Program, options: SearchOptions) -> str | None:
    """Why a program is refused; nothing is compiled for that."""
    checked = ProgramView.__new__(ProgramView)
    checked.program, checked.layout = program, NativeProgram(program).layout
    checked.race_wanted = "race" in options.properties
    try:
        checked.refuse_too_large()
    except UnsupportedError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("program", "options", "expected"),
    [
        (modular_counters(255, 1), SearchOptions(), None),
        (modular_counters(256, 1), SearchOptions(), "256 threads; a search takes at most 255"),
        (modular_counters(64, 1), RACES, None),
        (modular_counters(65, 1), RACES, "65 threads; races are looked for among at most 64"),
        (modular_counters(65, 1), SearchOptions(), None),
        (choosing(65_535), SearchOptions(), None),
        (choosing(65_536), SearchOptions(), "65,536 nondeterministic outcomes"),
    ],
    ids=["255", "256", "64 racing", "65 racing", "65", "65,535 choices", "65,536 choices"],
)
def test_refusals(program: Program, options: SearchOptions, expected: str | None) -> None:
    found = refusal(program, options)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert expected in found


def test_the_room_for_footprints_doubles() -> None:
    made = ProgramView(NativeProgram(modular_counters(2, 2)), RACES)
    length = view.FOOTPRINT_LENGTH
    for _ in range(3):
        made.lengthen_footprint()
        length *= 2
        assert made.kept[view.blocks.FOOTPRINT].length == length
        assert made.kept[view.blocks.FOOTPRINT].numbers[0] == length - 3


def test_choices_at_a_packed_state() -> None:
    program = choosing(5)
    made = ProgramView(NativeProgram(program), SearchOptions())
    start = list(made.layout.pack(program.initial_state()))
    ended = list(made.layout.pack((0, 4, FINISHED)))
    assert (made.choices_at(start, 0), made.choices_at(ended, 0)) == (5, 1)
