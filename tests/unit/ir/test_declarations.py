"""Declarations in the representation: written, read back, checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.ir.programs import Builder

from mazurka.errors import MazurkaError
from mazurka.ir.passes.validate import MalformedProgramError, validate
from mazurka.ir.program import FINISHED, Declaration, Program, Span
from mazurka.ir.serialize import from_json, to_json

HERE = Span("a.py", 3, 7)
LOCK, X, Y = 1, 2, 3


def declaring(**declared: Declaration) -> Program:
    """A lock and two numbers; `x` and `y` are declared as given."""
    builder = Builder()
    builder.lock()
    builder.shared("x", 0, 1)
    builder.shared("y", 0, 1)
    body = builder.thread()
    body.edge(body.at(), FINISHED)
    cells = {"x": X, "y": Y, "lock": LOCK, "nothing": 99, "counter": 4}
    found = {cells[name]: declaration for name, declaration in declared.items()}
    return replace(builder.program(), declared=found)


GOOD = declaring(x=Declaration("protected", LOCK, HERE), y=Declaration("unshared", None, HERE))


def test_they_are_written_and_read_back() -> None:
    validate(GOOD)
    assert from_json(to_json(GOOD)) == GOOD


def test_files_without_them_are_still_read() -> None:
    data = to_json(GOOD)
    del data["declared"]
    assert from_json(data) == replace(GOOD, declared={})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cell": 99}, "declared[0].cell is not a whole number from 1 to 4"),
        ({"cell": Y}, "declared[1].cell is declared twice"),
        ({"kind": "shared"}, "declared[0].kind is 'shared'; known are protected, "),
        ({"lock": None}, "declared[0].lock is there for protected cells, and only for them"),
        ({"kind": "unshared"}, "declared[0].lock is there for protected cells"),
        ({"lock": X}, "declared[0].lock is not the owner cell of a lock"),
        ({"span": [1]}, "declared[0].span"),
    ],
)
def test_mistakes_in_files_are_refused(changes: dict[str, Any], message: str) -> None:
    data: Any = to_json(GOOD)
    data["declared"][0] |= changes
    with pytest.raises(MazurkaError) as caught:
        from_json(data)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (declaring(nothing=Declaration("unshared", None, HERE)), "cell 99, which does not exist"),
        (declaring(x=Declaration("shared", None, HERE)), "x is declared 'shared'; known are"),
        (declaring(counter=Declaration("unshared", None, HERE)), "yet it is local to a thread"),
        (declaring(x=Declaration("unshared", LOCK, HERE)), "x is declared unshared, with a lock"),
        (declaring(x=Declaration("protected", None, HERE)), "x is declared protected, without"),
        (declaring(x=Declaration("protected", Y, HERE)), "by cell 3, which is no lock"),
        (declaring(x=Declaration("protected", 99, HERE)), "by cell 99, which is no lock"),
    ],
)
def test_rules_of_declarations(program: Program, message: str) -> None:
    with pytest.raises(MalformedProgramError) as caught:
        validate(program)
    assert message in caught.value.message
    assert (caught.value.file, caught.value.line) == ("a.py", 3)
