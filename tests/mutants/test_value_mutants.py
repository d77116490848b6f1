"""Deliberately wrong ways to hold frozen records and tuples; each must change what a model does.

Beside each mutant stands the code of a thread that must catch it, with the value of `x` in Python.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from mazurka.errors import MazurkaError
from mazurka.frontend.python import expressions
from mazurka.frontend.python.elaboration import elaborate
from mazurka.frontend.python.values import assignment, owned
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, IDLE
from mazurka.stateful.reference.full import explore

HEAD = """
from dataclasses import dataclass
from mazurka.model import *
@dataclass(frozen=True)
class P:
    v: Int[0, 9] = 0
    w: Int[0, 9] = 0
x: Int[0, 99] = 0
M = P(7, 8)
q = Queue(3, P)
def f():
    global x
"""


def value_of_x(code: str) -> object:
    """The values with which `x` can end, or what is wrong with the model."""
    source = HEAD + textwrap.indent(code, "    ") + "\nthreads = [f()]\n"
    try:
        program = prepare(elaborate(source, "model.py"))
    except (MazurkaError, AssertionError, TypeError, ValueError) as error:
        return str(error)
    space = explore(program, races=False)
    address = next(a for a, cell in enumerate(program.cells) if cell.name == "x")
    ended = {
        state[address]
        for state in space.states
        if all(state[thread.counter] in (FINISHED, IDLE) for thread in program.threads)
    }
    return space.kinds or ended


def alias(low: Any, name: str, value: Any, node: Any) -> Any:
    if isinstance(value, assignment.Blueprint):
        return original_place(low, name, value, node)
    return value


def never(*given: object) -> bool:
    return False


def always(*given: object) -> bool:
    return True


original_place = owned.place_copy
SWAP = "a, b = P(1), P(2)\nfor _ in range(3):\n    a, b = b, a\nx = 10 * a.v + b.v"
OWN = "t = (1, 2)\nfor _ in range(3):\n    t = (t[1], t[0])\nx = 10 * t[0] + t[1]"
LIST = "a = P(1)\nboth = [a, M]\na = P(2)\nx = both[0].v"
CHOSEN = "a = P(1)\nc = a if q.empty() else M\na = P(5)\nx = c.v"
NEXT = "a = P(3, 4)\nb = P(5)\nb, a = a, P(1, b == a)\nx = 10 * a.w + b.v"
ITEMS = "a = P(1)\nx = 0\nfor m in (a, a):\n    a = P(5)\n    x = 10 * x + m.v"

# name, object, attribute, replacement, the code, the value of `x` in Python
MUTANTS: list[tuple[str, Any, str, Any, str, int]] = [
    ("exchanged one by one", assignment, "_is_settled", always, SWAP, 21),
    ("parts one by one", owned, "_may_read", never, OWN, 21),
    ("lists keep the cells of names", assignment, "place_copy", alias, LIST, 1),
    ("both sides are addresses", expressions, "is_record_value", never, CHOSEN, 1),
    ("new records as they stand", assignment, "is_kept", always, NEXT, 3),
    ("items stay where they are", assignment, "is_own_record", never, ITEMS, 11),
]


@pytest.mark.parametrize(("code", "expected"), [row[-2:] for row in MUTANTS])
def test_models_do_what_python_does(code: str, expected: int) -> None:
    assert value_of_x(code) == {expected}


@pytest.mark.parametrize("mutant", MUTANTS, ids=[row[0] for row in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement, code, expected = mutant
    monkeypatch.setattr(owner, attribute, replacement)
    assert value_of_x(code) != {expected}
