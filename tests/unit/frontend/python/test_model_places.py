"""Where a refusal points: columns count characters, and end where the construct ends."""

from __future__ import annotations

import pytest

from mazurka.errors import MazurkaError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare

IMPORT = "from mazurka.model import Int, Mutex\n"


def place_of(source: str) -> tuple[int | None, int | None, int | None]:
    with pytest.raises(MazurkaError) as caught:
        prepare(elaborate(source, "model.py"))
    assert caught.value.file == "model.py"
    return caught.value.line, caught.value.column, caught.value.end_column


def marked(source: str) -> str:
    """The part of the source that a refusal points to."""
    line, column, end = place_of(source)
    assert line is not None
    assert column is not None
    assert end is not None
    return source.splitlines()[line - 1][column - 1 : end - 1]


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("def f():\n    x = 1 / 2\nthreads = [f()]\n", "1 / 2"),
        ("def f():\n    x = 'äöü' ; y = nope\nthreads = [f()]\n", "nope"),
        ("def f():\n\tx = {1: 2}\nthreads = [f()]\n", "{1: 2}"),
        ("import random\n", "import random"),
        (IMPORT + "x: Int = 0\n", "Int"),
        (IMPORT + "x: 'Int[0' = 0\n", "'Int[0'"),
        (IMPORT + "x: Int[3, 1] = 1\ndef f(): pass\nthreads = [f()]\n", "Int[3, 1]"),
        (IMPORT + "x: Int[0, 1] = 7\ndef f():\n    global x\n    x = 1\nthreads = [f()]\n",
         "x: Int[0, 1] = 7"),
        (IMPORT + "m = Mutex()\ndef f():\n    m.nope()\nthreads = [f()]\n", "m.nope()"),
        ("def f():\n    x = 99999999999999999999\nthreads = [f()]\n", "99999999999999999999"),
        ("x = 0\ndef f():\n    global x\n    while 1:\n        x += 1\nthreads = [f()]\n", "x = 0"),
    ],
)  # fmt: skip
def test_a_refusal_marks_the_construct(source: str, part: str) -> None:
    assert marked(source) == part


def test_the_end_of_a_construct_of_several_lines_is_in_another_line() -> None:
    assert place_of("def f():\n    x = (1\n         / 2)\nthreads = [f()]\n") == (2, 10, None)


def test_a_mistake_in_the_syntax_has_a_column() -> None:
    assert place_of("x = 'ä' +\n")[:2] == (1, 10)


def test_a_statement_that_python_refuses_only_when_compiling_has_a_column() -> None:
    assert place_of("def f():\n    break\n")[:2] == (2, 5)
