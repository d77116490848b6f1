"""`await_` in models: one step whatever the condition reads, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka.model
from mazurka.errors import UnsupportedError
from mazurka.frontend.python import load_model
from mazurka.ir.program import FINISHED, Kind, Mode, Program

HEAD = """
from mazurka.model import *

x: Int[0, 3] = 0
y: Int[0, 3] = 0
m = Mutex()

def change():
    global x, y
    x = 1
    y = 2
"""


def build(tmp_path: Path, body: str, rest: str = "") -> Program:
    path = tmp_path / "model.py"
    path.write_text(f"{HEAD}{rest}\ndef f(i):\n    {body}\n\nthreads = [f(1), change()]\n")
    return load_model(path)


def kinds(program: Program) -> list[Kind]:
    return [edge.kind for edge in program.threads[0].edges]


def test_a_condition_over_several_variables_is_one_edge(
    tmp_path: Path,
) -> None:
    program = build(tmp_path, "await_(x < y or not y == i)")
    (edge,) = program.threads[0].edges
    assert edge.kind is Kind.UNTIL
    assert edge.guard is not None
    assert not edge.indivisible, "its reads race like those of a loop"
    assert edge.text == "await x < y or not y == i"


def test_a_condition_that_calls_is_a_section_that_waits(
    tmp_path: Path,
) -> None:
    helper = "def g(n):\n    return x == n and not m.locked()\n"
    thread = build(tmp_path, "await_(g(i))", helper).threads[0]
    assert thread.edges[0].kind is Kind.UNTIL
    assert not thread.edges[0].indivisible
    assert [edge.kind for edge in thread.edges if edge.target == FINISHED] == [Kind.UNTIL]
    visible = [place for place in thread.locations[3:] if place.mode is Mode.VISIBLE]
    assert len(visible) == 1, "nothing runs in the middle of the condition"


def test_inside_a_section_it_is_part_of_the_section(
    tmp_path: Path,
) -> None:
    program = build(tmp_path, "with atomic():\n        await_(x == y)\n        m.acquire()")
    assert Kind.UNTIL in kinds(program)
    assert all(edge.indivisible for edge in program.threads[0].edges if edge.guard is not None)


def test_what_always_holds_takes_no_step(tmp_path: Path) -> None:
    assert Kind.UNTIL not in kinds(build(tmp_path, "await_(i == 1)"))


@pytest.mark.parametrize(
    ("body", "rest", "message"),
    [
        ("await_((x == 1, y == 1))", "", "is a tuple, which always holds"),
        ("await_()", "", "takes one argument"),
        ("pass", "def g():\n    await_(x == 1)\n    return True\ninvariant(g())\n", "only look"),
    ],
)
def test_refusals(tmp_path: Path, body: str, rest: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        build(tmp_path, body, rest)


def test_it_is_no_function_to_call() -> None:
    with pytest.raises(RuntimeError, match="`await_` is part of Mazurka's model language"):
        mazurka.model.await_(True)
