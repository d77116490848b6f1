"""Deliberately wrong readings of the module level; each must change what a model does.

Beside each mutant stands the model that must catch it, with the values that `x` can end with in
Python.  The model has these values without the mutant, and others (or an error) with it.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from mazurka.errors import MazurkaError
from mazurka.frontend.python import arguments
from mazurka.frontend.python.elaboration import elaborate
from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.module_level import beforehand, declarations
from mazurka.frontend.python.module_level.module_run import ModuleRun
from mazurka.frontend.python.survey import facts_of
from mazurka.frontend.python.values import objects
from mazurka.frontend.python.values.kinds import Value
from mazurka.ir.interpreter import StepRun
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, IDLE
from mazurka.stateful.reference.full import explore

HEAD = """
import threading
from mazurka.model import *
x: Int[-9, 9] = 1
y = 3
xs = [4, 5]
lock = threading.Lock()
def f(n):
    global x
    x = n
def nobody():
    global y, xs
    y = xs[0] = 3
"""


def values_of_x(source: str) -> set[int]:
    """The values with which `x` can end, and -99 for violations."""
    program = prepare(elaborate(HEAD + source, "model.py"))
    space = explore(program, races=False)
    assert space.complete
    address = next(a for a, cell in enumerate(program.cells) if cell.name == "x")
    ended = {
        state[address]
        for state in space.states
        if all(state[thread.counter] in (FINISHED, IDLE) for thread in program.threads)
    }
    return ended | {-99 for _ in space.kinds}


def at_each_call(low: Lowering, default: ast.expr) -> Value:
    return low.value(default)


def never_waits(self: ModuleRun, node: ast.stmt) -> None:
    original_defer(self, node)
    self.low.settled = True


def starts_at_once(self: Any, expr: ast.expr, known: list[Any]) -> None:
    waiting, self.run.main = self.run.main, []
    original_list(self, expr, known)
    self.run.main = waiting + self.run.main


def nothing_runs_yet(self: ModuleRun) -> None:
    pass


def all_lists_count(self: Any, expr: ast.expr, known: list[Any]) -> None:
    before = list(self.listed)
    original_list(self, expr, known)
    self.listed = before + self.listed


def everything_is_constant(self: ModuleRun) -> dict[str, int]:
    self.rebound |= {"y"}
    object.__setattr__(self.model.survey, "written", frozenset())
    return original_freeze(self)


def splits_swaps(self: Any, values: ast.expr) -> set[str]:
    return set(self.stores)


original_defer = ModuleRun.defer
original_list = declarations.Declarations._list_threads
original_freeze = ModuleRun.freeze_numbers

# name, object, attribute, replacement, a model, the values that `x` can end with
MUTANTS: list[tuple[str, Any, str, Any, str, set[int]]] = [
    ("defaults at the call", arguments, "evaluate_default", at_each_call,
     "def g(n=y): f(n)\ny = 6\nthreads = [g()]", {3}),
    ("values known while main waits", ModuleRun, "defer", never_waits,
     "x = choose(5, 6)\nk = x\nthreads = [f(k)]", {5, 6}),
    ("main beside the threads", declarations.Declarations, "_list_threads", starts_at_once,
     "y = choose(5, 6)\ndef g(): f(y)\nthreads = [g()]", {5, 6}),
    ("values known beside the threads", ModuleRun, "start_threads", nothing_runs_yet,
     "z = 0\ndef g(): return z\nthreads = [f(2), g()]\nk = x\nx = k + 5", {2, 6, 7}),
    ("all lists count", declarations.Declarations, "_list_threads", all_lists_count,
     "threads = [f(7)]\nthreads = [f(8)]", {8}),
    ("variables of loops are constants", beforehand, "bind_cell", lambda *given: None,
     "k = 0\nwhile k < 2:\n    k += 1\nthreads = [f(k)]", {2}),
    ("numbers of threads are constants", ModuleRun, "freeze_numbers", everything_is_constant,
     "y = 6\ndef g(): f(y)\nthreads = [g(), nobody()]", {3, 6}),
    ("swaps one by one", declarations.Declarations, "_fresh", splits_swaps,
     "x, y = y, x\nthreads = [f(x - y)]", {2}),
    ("choices are foreseen", beforehand, "_is_uncertain", lambda edge: False,
     "y = choose(5, 6)\nthreads = [f(y)]", {5, 6}),
    ("locks stay with nobody", beforehand, "_HELD", frozenset(),
     "mutex = Mutex()\nmutex.acquire()\ndef g():\n    mutex.release()\n    f(2)\nthreads = [g()]",
     {-99}),
    ("numbers wrap around", beforehand._ExactRun, "binary", StepRun.binary,
     "y = 2 ** 62\ny = y * 4\nthreads = [f(y)]", {-1}),
    ("loop variables count on", beforehand, "_facts_of", facts_of,
     "for k in range(2):\n    pass\nthreads = [f(k)]", {1}),
    ("defaults of fields at the instance", objects, "evaluate_default", at_each_call,
     "class A:\n    v: int = y\ny = 6\na = A()\nthreads = [f(a.v)]", {3}),
]  # fmt: skip


def outcome(source: str) -> object:
    try:
        return values_of_x(source)
    except MazurkaError as error:
        return {-1} if "64 bits" in str(error) else str(error)
    except (AssertionError, AttributeError, KeyError, TypeError) as error:
        return str(error)


@pytest.mark.parametrize(("source", "expected"), [row[-2:] for row in MUTANTS])
def test_models_do_what_python_does(source: str, expected: set[int]) -> None:
    assert outcome(source) == expected


@pytest.mark.parametrize("mutant", MUTANTS, ids=[row[0] for row in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any, str, set[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement, source, expected = mutant
    monkeypatch.setattr(owner, attribute, replacement)
    assert outcome(source) != expected
