"""Temporal formulas: the nested search against the product that is built by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
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
from mazurka.symbolic.temporal.searches import search_formula
from tests.limits import ENOUGH
from tests.soundness.random_programs import random_program
from tests.unit.ltl.random_formulas import random_formula

NESTED = "nested"
AGREES, DIFFERS, UNDECIDED = "agrees", "differs", "undecided"
ROUNDS = 20
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


def search_by(strategy: str, program: Program, formula: Formula, *, fair: bool) -> SearchResult:
    """Check a formula with the nested search, or with a strategy of the symbolic engine."""
    if strategy == NESTED:
        return search_nested(program, formula, fair=fair)
    options = SearchOptions(limit_seconds=ENOUGH, tuning={"rounds": ROUNDS})
    return search_formula(strategy, program, formula, options, Silent(), fair=fair)


@dataclass(frozen=True)
class Comparison:
    """What strategies say of one program and one formula."""

    description: str
    answers: Mapping[str, str]
    """By strategy one of the words above; on a merged program it has another answer."""

    @property
    def differs(self) -> bool:
        return DIFFERS in self.answers.values()


def compare_formula(seed: int, strategies: Sequence[str] = (NESTED,)) -> Comparison | None:
    """Compare one random program and one formula with the product; None: too large, or it fails.

    The search works on the merged program where it may as well, the product always on the other
    one.  A search that ends by a limit is undecided."""
    rng = Random(seed)
    raw = random_program(rng, faults=False)
    plain = prepare(raw, merge=False)
    if not explore(plain, races=False, limit=STATES).complete:
        return None
    shared = rng.random() < 0.5
    propositions = random_propositions(rng, plain, shared=shared)
    formula = random_formula(rng, propositions, rng.randint(1, 4), has_next=rng.random() < 0.3)
    fair = rng.random() < 0.5
    expected = check_formula(plain, formula, fair=fair)
    if expected.faults:
        return None
    programs = {"": plain}
    if may_merge(plain, formula, fair=fair):
        programs[", merged"] = prepare(raw)
    answers = {}
    for (suffix, program), strategy in product(programs.items(), strategies):
        found = search_by(strategy, program, formula, fair=fair)
        violated = found.violation is not None
        if found.limits and not violated:
            answers[strategy + suffix] = UNDECIDED
        else:
            answers[strategy + suffix] = AGREES if violated is expected.violated else DIFFERS
    word = "violated" if expected.violated else "true"
    return Comparison(f"seed {seed}, {word}, fair {fair}: {formula}", answers)
