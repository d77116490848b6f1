"""The searches by transactions: native code against Fig. 6 of paper 000 as written, and Theorem 2.

`stateful.reference.cpc` has the algorithm with the paper's lines, on the interpreter.  The
native search must explore the same states by the same steps in its last round, whatever ends a
transaction and however much of the movers is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from mazurka.analysis.laws import MoverUse
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.reference.cpc import Transactions, assert_theorem_2, explore_transactions
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.transactions import TransactionSearch
from mazurka.stateful.variants import Completion, Transaction
from tests.soundness.reductions import Subject

STATES = 800
"""Programs with more states are left out: the interpreter is slow."""
PROGRAMS = 60
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

portions = pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))


def programs(first: int) -> Iterator[tuple[str, Program, StateSpace]]:
    for seed in range(first, first + PORTION):
        subject = Subject(seed)
        program = subject.program()
        whole = explore(program, limit=STATES)
        if whole.complete:
            yield str(subject), program, whole


def in_full(program: Program, how: Transaction) -> SearchResult:
    """The native search, past the first violation."""
    options = SearchOptions(properties=KEPT[how.mover_use], stop_at_first=False)
    return TransactionSearch(native(program), options, Silent(), how).run()


def as_written(program: Program, how: Transaction) -> Transactions:
    races = "race" in KEPT[how.mover_use]
    done, _ = explore_transactions(program, how.completion, mover_use=how.mover_use, races=races)
    return done


def asked_for(kinds: set[str], mover_use: MoverUse) -> set[str]:
    """The violations that a search must report; passing a bound is none."""
    return kinds - {"bound"} - ({"deadlock", "race"} - KEPT[mover_use])


@portions
def test_native_search_is_the_figure(first: int) -> None:
    for name, program, whole in programs(first):
        for completion, mover_use in product(Completion, MoverUse):
            how = Transaction(completion=completion, mover_use=mover_use)
            done, result = as_written(program, how), in_full(program, how)
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
    for name, program, whole in programs(first):
        for completion, mover_use in product(SOUND, MoverUse):
            done = as_written(program, Transaction(completion=completion, mover_use=mover_use))
            real = asked_for(whole.kinds, mover_use)
            missed = real and not done.kinds & (real | {"bound"})
            assert not missed, (name, completion, mover_use)


@portions
def test_commit_points_reach_the_end_of_their_transactions(first: int) -> None:
    """Theorem 2."""
    for _, program, _ in programs(first):
        for completion, mover_use in product(COMPLETED, MoverUse):
            assert_theorem_2(
                as_written(program, Transaction(completion=completion, mover_use=mover_use))
            )


@portions
def test_the_inner_loop_only_saves_states(first: int) -> None:
    """Paper 002: runs of invisible steps in one go."""
    for name, program, _ in programs(first):
        for completion in SOUND:
            step_by_step = Transaction(completion=completion, mover_use=MoverUse.INVISIBLE)
            in_one_go = Transaction(
                completion=completion, mover_use=MoverUse.INVISIBLE, inner_loop=True
            )
            slow, fast = in_full(program, step_by_step), in_full(program, in_one_go)
            assert (slow.violation is None) == (fast.violation is None), (name, completion)
            assert fast.statistics.states <= slow.statistics.states, (name, completion)
