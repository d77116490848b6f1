"""Temporal formulas: the nested search against the product that is built by hand."""

from __future__ import annotations

from random import Random

from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program, Role
from mazurka.ltl.formulas import Formula
from mazurka.ltl.propositions import may_merge
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.ltl import check_formula
from mazurka.stateful.searches.nested import NestedSearch
from tests.soundness.random_programs import random_program
from tests.unit.ltl.random_formulas import random_formula

STATES = 400
"""Programs with more states are left out."""


def random_propositions(rng: Random, program: Program, *, shared: bool) -> list[Expr]:
    """Propositions about cells, and about locations unless they are to be shared."""
    found: list[Expr] = []
    for address, cell in enumerate(program.cells):
        if address == 0 or (shared and (cell.owner is not None or cell.role is Role.COUNTER)):
            continue
        value = rng.randint(cell.low, min(cell.high, cell.low + 3))
        found.append(Binary(rng.choice(["eq", "ne", "le"]), Load(Const(address)), Const(value)))
    rng.shuffle(found)
    return found[:3] or [Const(1)]


def search_nested(program: Program, formula: Formula, *, fair: bool) -> SearchResult:
    options = SearchOptions(limit_bytes=1 << 28)
    return NestedSearch(program, formula, options, Silent(), fair=fair).run()


def find_disagreement(seed: int) -> str | None:
    """Compare one program and one formula; what is wrong, `left out`, or None.

    The search works on the merged program where it may, the product always on the other one."""
    rng = Random(seed)
    raw = random_program(rng, faults=False)
    plain = prepare(raw, merge=False)
    if not explore(plain, races=False, limit=STATES).complete:
        return "left out"
    shared = rng.random() < 0.5
    propositions = random_propositions(rng, plain, shared=shared)
    formula = random_formula(rng, propositions, rng.randint(1, 4), has_next=rng.random() < 0.3)
    fair = rng.random() < 0.5
    expected = check_formula(plain, formula, fair=fair)
    if expected.faults:
        return "left out"
    programs = [plain]
    if may_merge(plain, formula, fair=fair):
        programs.append(prepare(raw))
    for program in programs:
        found = search_nested(program, formula, fair=fair)
        if (found.violation is not None) is not expected.violated:
            return f"seed {seed}: {expected.violated} expected, fair {fair}: {formula}"
    return None
