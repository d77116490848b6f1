"""The searches by transactions: native code against Fig. 6 of paper 000 as written, and Theorem 2.

`stateful.reference.cpc` has the algorithm with the paper's lines, on the interpreter.  The
native search must explore the same states by the same steps in its last round, whatever ends a
transaction and however much of the movers is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

import pytest

from mazurka.analysis.laws import MoverUse
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.reference.cpc import Transactions, assert_theorem_2, explore_transactions
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.searches.transactions import TransactionSearch
from mazurka.stateful.variants import Completion, Transaction
from tests.soundness.amounts import shares
from tests.soundness.reductions import Subject

STATES = 800
"""Programs with more states are left out: the interpreter is slow."""
PROGRAMS = shares(30)
"""Half of them from each generator."""
PORTION = 15

KEPT = {
    MoverUse.FULL: frozenset({"assert"}),
    MoverUse.BLOCKING: frozenset({"assert", "deadlock", "race"}),
    MoverUse.INVISIBLE: frozenset({"assert", "deadlock"}),
}
"""What is asked for, by what a search makes of the movers."""
COMPLETED = (Completion.COMMIT_POINTS, Completion.EVERY_STATE)
SOUND = (Completion.CYCLES, *COMPLETED)

# All tests of one portion follow each other, so that its programs are made and searched once.
portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION), scope="module")


@dataclass
class Case:
    """A random program, all its states, and the searches of it that are done."""

    name: str
    program: Program
    whole: StateSpace
    written: dict[Transaction, Transactions] = field(default_factory=dict)
    native: dict[Transaction, SearchResult] = field(default_factory=dict)

    def in_full(self, how: Transaction) -> SearchResult:
        """The native search, past the first violation."""
        if how not in self.native:
            options = SearchOptions(properties=KEPT[how.mover_use], stop_at_first=False)
            search = TransactionSearch(native(self.program), options, Silent(), how)
            self.native[how] = search.run()
        return self.native[how]

    def as_written(self, how: Transaction) -> Transactions:
        if how not in self.written:
            completion, use, races = how.completion, how.mover_use, "race" in KEPT[how.mover_use]
            done, _ = explore_transactions(self.program, completion, mover_use=use, races=races)
            self.written[how] = done
        return self.written[how]


@lru_cache(maxsize=1)
def cases(first: int) -> list[Case]:
    subjects = [Subject(seed) for seed in range(first, first + PORTION)]
    programs = {str(subject): subject.program() for subject in subjects}
    found = [Case(name, each, explore(each, limit=STATES)) for name, each in programs.items()]
    return [case for case in found if case.whole.complete]


def asked_for(kinds: set[str], mover_use: MoverUse) -> set[str]:
    """The violations that a search must report; passing a bound is none."""
    return kinds - {"bound"} - ({"deadlock", "race"} - KEPT[mover_use])


@portions
def test_native_search_is_the_figure(first: int) -> None:
    for case in cases(first):
        name, whole = case.name, case.whole
        for completion, mover_use in product(Completion, MoverUse):
            how = Transaction(completion=completion, mover_use=mover_use)
            done, result = case.as_written(how), case.in_full(how)
            counts = (result.statistics.states, result.statistics.transitions)
            assert counts == (len(done.states), done.transitions), (name, how)
            kinds = asked_for(done.kinds, mover_use)
            assert (result.violation is not None) == bool(kinds), (name, how)
            assert result.violation is None or result.violation.kind in kinds, (name, how)
            assert done.states <= whole.states.keys(), (name, how)
            assert done.kinds <= whole.kinds, (name, how)


@portions
def test_figure_loses_no_violation(first: int) -> None:
    """Of each program that can fail the search finds at least one failure.

    Or it passes a bound, and gives no verdict: moved, a step may do so earlier.
    """
    for case in cases(first):
        for completion, mover_use in product(SOUND, MoverUse):
            done = case.as_written(Transaction(completion=completion, mover_use=mover_use))
            real = asked_for(case.whole.kinds, mover_use)
            missed = real and not done.kinds & (real | {"bound"})
            assert not missed, (case.name, completion, mover_use)


@portions
def test_commit_points_reach_the_end_of_their_transactions(first: int) -> None:
    """Theorem 2."""
    for case in cases(first):
        for completion, mover_use in product(COMPLETED, MoverUse):
            how = Transaction(completion=completion, mover_use=mover_use)
            assert_theorem_2(case.as_written(how))


@portions
def test_the_inner_loop_only_saves_states(first: int) -> None:
    """Paper 002: runs of invisible steps in one go."""
    for case in cases(first):
        for completion in SOUND:
            step_by_step = Transaction(completion=completion, mover_use=MoverUse.INVISIBLE)
            in_one_go = Transaction(
                completion=completion, mover_use=MoverUse.INVISIBLE, inner_loop=True
            )
            slow, fast = case.in_full(step_by_step), case.in_full(in_one_go)
            assert (slow.violation is None) == (fast.violation is None), (case.name, completion)
            assert fast.statistics.states <= slow.statistics.states, (case.name, completion)
