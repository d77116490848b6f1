"""Deliberately broken passes and code generators; the comparison with the oracle must catch each.

A mutant is a small change to one function.  It counts as caught if, over a fixed run of random
programs, the comparison that guards the function reports a difference (or a built-in check fails).
A mutant that survives means that the tests over random programs would miss such a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from mazurka.errors import InternalError
from mazurka.ir.expressions import Element
from mazurka.ir.native import expressions as native_expressions
from mazurka.ir.native import layout
from mazurka.ir.native import step as native
from mazurka.ir.passes import held, liveness, merge
from mazurka.ir.passes.validate import MalformedProgramError
from mazurka.ir.program import Program
from mazurka.ir.values.footprints import Footprints, Touched
from tests.soundness.agreement import disagreement
from tests.soundness.random_programs import random_program
from tests.soundness.variants import VARIANTS, difference

PROGRAMS = 600
SOON = (0, 10, 38, 32, 135, 154, 130, 538)
"""Programs by which mutants have been caught, which come first: most show nothing of most."""
STATES = 250


def native_differs(program: Program) -> bool:
    """Whether native code and interpreter differ on the prepared program."""
    return disagreement(VARIANTS["prepared"](program), STATES) is not None


def behaviour_differs(program: Program) -> bool:
    """Whether preparing the program changes its violations or what its shared cells hold."""
    return difference(program, VARIANTS["prepared"](program), 4 * STATES) is not None


def resetting_differs(program: Program) -> bool:
    """The same for resetting alone, where every location is a rest."""
    return difference(program, VARIANTS["reset"](program), 4 * STATES) is not None


def caught(differs: Callable[[Program], bool]) -> bool:
    for seed in dict.fromkeys((*SOON, *range(PROGRAMS))):
        try:
            if differs(random_program(Random(seed), faults=seed % 2 == 0)):
                return True
        except (AssertionError, MalformedProgramError, InternalError, ValueError, IndexError):
            return True
    return False


def without_element_check(self: Any, expr: Element) -> str:
    base, index = self.evaluate(expr.base), self.evaluate(expr.index)
    return str(self.value(f"add i64 {base}, {self.value(f'mul i64 {index}, {expr.stride}')}"))


def blind_loads(self: Footprints, expr: Any, choices: int = 1) -> Any:
    return iter(())


def everything_is_own(self: Touched, program: Program, thread: int) -> bool:
    return True


def forgetful_effect(footprints: Footprints, edge: Any, bits: dict[int, int]) -> Any:
    return original_effect(footprints, replace(edge, guard=None), bits)


def read_first_without_loops(self: Any) -> list[int]:
    """What the first round finds: what is read behind a way back is missing."""
    live = [0] * len(self.thread.locations)
    for location in self.backwards:
        for position in self.thread.outgoing[location]:
            effect, after = self.effects[position], live[self.thread.edges[position].target]
            live[location] |= effect.uses | (after & ~effect.kills)
    return live


original_effect = liveness._find_effect

# name, object, attribute, replacement, what must notice
MUTANTS: list[tuple[str, Any, str, Any, Callable[[Program], bool]]] = [
    ("range checks dropped", native, "may_leave_range", lambda *a: False, native_differs),
    (
        "index checks dropped",
        native_expressions.ThreadText,
        "element",
        without_element_check,
        native_differs,
    ),
    (
        "null checks dropped",
        Footprints,
        "is_surely_cell",
        lambda self, address, choices=1: True,
        native_differs,
    ),
    (
        "footprints leave reads out",
        native_expressions.ThreadText,
        "record",
        lambda self, address, targets, write: None,
        native_differs,
    ),
    ("both branches evaluated", native_expressions.ThreadText, "is_harmless",
     lambda self, expr: True, native_differs),
    ("dead cells not reset", native._StepText, "settle",
     lambda self, location: self.store_cell(self.counter, str(location)), native_differs),
    ("guards do not keep cells alive", liveness, "_find_effect", forgetful_effect,
     resetting_differs),
    ("cells read in the next round are dead", liveness._Locals, "reads_first",
     read_first_without_loops, resetting_differs),
    ("nothing is read, so all is dead", Footprints, "loads", blind_loads, behaviour_differs),
    ("shared steps merged", Touched, "only_own", everything_is_own, behaviour_differs),
    ("cycles merged", merge, "remove_loop_heads", lambda _, found: set(found), behaviour_differs),
    ("all locks disciplined", held, "_is_entitled", lambda *a: True, behaviour_differs),
    ("cells in groups coded apart", layout, "_agree", lambda plans, groups: None, native_differs),
    ("what is stored to is constant", layout, "_find_constants",
     lambda plans, stores: frozenset(range(len(plans))), native_differs),
    ("no thread can go wrong", layout, "can_fault", lambda *a: False, native_differs),
]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "name", "replacement", "differs"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_mutant_is_caught(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    replacement: Any,
    differs: Callable[[Program], bool],
) -> None:
    monkeypatch.setattr(owner, name, replacement)
    assert caught(differs)


def test_nothing_is_caught_without_a_mutant() -> None:
    for seed in dict.fromkeys((*SOON, *range(30))):
        program = random_program(Random(seed), faults=seed % 2 == 0)
        assert seed not in SOON or not resetting_differs(program)
        assert not behaviour_differs(program)
        assert not native_differs(program)
