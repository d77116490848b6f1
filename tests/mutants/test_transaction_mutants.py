"""Deliberately broken searches by transactions: verdicts or counts must tell each from ours.

A mutant that is unsound loses the violation of one model (`transaction_models`).  A wasteful one
gives the right verdict and explores too much, so it is told by a count.  These break Fig. 6 as
written (`stateful.reference.cpc`) or the discipline; `test_kernel_mutants` breaks the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mazurka.analysis.channels import End, TwoEndedQueue
from mazurka.analysis.discipline import Broken, Discipline
from mazurka.analysis.laws import Mover, MoverUse
from mazurka.analysis.queue_movers import QueueMovers
from mazurka.ir.interpreter import State, Step
from mazurka.ir.program import FINISHED, Kind
from mazurka.stateful.reference.cpc import Record, Transactions
from mazurka.stateful.variants import Completion
from tests.mutants.transaction_searches import Search
from tests.soundness import mover_models
from tests.soundness.mover_properties import movers_by_line, table

original_mover = Discipline.mover
original_move_at = QueueMovers._move_at
original_execute = Transactions.execute
original_explore = Transactions.explore


def kind_moves(kind: Kind) -> Callable[[Discipline, State, Step], Mover]:
    """Steps of a kind are both-movers if they are movers at all."""

    def mover(self: Discipline, source: State, step: Step) -> Mover:
        found = original_mover(self, source, step)
        if found and step.happened and self.program.edges[step.edges[0]].kind is kind:
            return Mover.BOTH
        return found

    return mover


def without_restart(self: Discipline, source: State, step: Step) -> Mover:
    while True:
        try:
            return original_mover(self, source, step)
        except Broken:
            continue


def only_possible_steps(self: Discipline, source: State, step: Step) -> Mover:
    return original_mover(self, source, step) if step.happened else Mover.BOTH


def unmarked_left_movers(self: Transactions, q: Record, step: Step) -> Record:
    successor = original_execute(self, q, step)
    return replace(successor, rm=successor.rm or (successor.lm and not q.phase))


def complete_from_the_start(self: Transactions, q: Record, step: Step) -> Record:
    return replace(original_execute(self, q, step), cpc=True)


def never_ends_before(self: Transactions, q: Record, step: Step) -> None:
    """L7 left out: another step than a left mover does not end the transaction before it."""
    ended = q.xend
    original_explore(self, q, step)
    q.xend = ended


def unseen_cycle(self: Transactions, record: Record) -> None:
    self.table[record.key] = record
    self.stack.append(record)


def ends_only_when_stuck(self: Transactions, q: Record) -> bool:
    return q.successors == 0


def paper_without_successors(self: Transactions, q: Record) -> bool:
    """L18 and L19 to the letter, also where there is no successor."""
    return not q.cpc and not q.rm


def without_propagation(self: Transactions, q: Record, step: Step) -> None:
    """L11 left out."""
    before = q.cpc
    original_explore(self, q, step)
    q.cpc = before or q.xend


def silent_ends(self: Discipline, source: State, step: Step) -> bool:
    """The end of a thread changes who is alone, and nobody sees it."""
    location = self.interpreter.location
    before, after = location(source, step.thread), location(step.state, step.thread)
    return after != FINISHED and self.inside(step.thread, before) != self.inside(step.thread, after)


def silent_regions(self: Discipline, source: State, step: Step) -> bool:
    return self.handover and self.interpreter.location(step.state, step.thread) == FINISHED


def any_lock_moves(self: Discipline, source: State, step: Step, address: int) -> Mover:
    """Nobody asks whether a lock is tried, or looked at."""
    me, change = step.thread + 1, (source[address], step.state[address])
    return {(0, me): Mover.RIGHT, (me, 0): Mover.LEFT}.get(change, Mover.BOTH)


def held_before(self: Discipline, source: State, step: Step) -> list[int]:
    return [lock for lock in self.locks if source[lock] == step.thread + 1]


def end_moves(end: End, mover: Mover) -> Callable[..., Mover]:
    """All steps at one of the ends of queues move like this."""

    def move_at(self: QueueMovers, number: int, channel: TwoEndedQueue, at: End) -> Mover:
        return mover if at is end else original_move_at(self, number, channel, at)

    return move_at


def ends_put_and_got(self: QueueMovers, number: int) -> int:
    """Looks at queues do not count."""
    edges = range(len(self.laws.program.threads[number].edges))
    found = 0
    for position in edges:
        found |= self.channels.taking(number, position).writes
    return found


# name, object, attribute, replacement, what it gets wrong
MUTANTS: list[tuple[str, Any, str, Any, Search]] = [
    ("release moves to both sides", Discipline, "mover", kind_moves(Kind.RELEASE),
     Search("seen after the release")),
    ("acquire moves to both sides", Discipline, "mover", kind_moves(Kind.ACQUIRE),
     Search("comes before the acquisition")),
    ("left movers make no commit point", Transactions, "execute", unmarked_left_movers,
     Search("fig3")),
    ("L18 skipped", Transactions, "must_end", ends_only_when_stuck, Search("fig1")),
    ("L19 where there is no successor", Transactions, "must_end", paper_without_successors,
     Search("deadlock", mover_use=MoverUse.BLOCKING)),
    ("L7 skipped", Transactions, "explore", never_ends_before, Search("for a moment")),
    ("choices that wait not noticed", Transactions, "notice_blocked", lambda *a: None,
     Search("section_waits_for_one_choice")),
    ("CPC set without cause", Transactions, "execute", complete_from_the_start, Search("fig1")),
    ("cycles not noticed", Transactions, "push", unseen_cycle,
     Search("fig1", completion=Completion.CYCLES)),
    ("locksets not checked", Discipline, "data_access", lambda *a: Mover.BOTH,
     Search("for a moment")),
    ("refinement without a restart", Discipline, "mover", without_restart,
     Search("for a moment")),
    ("disabled steps not checked", Discipline, "mover", only_possible_steps,
     Search("waits for a moment")),
    ("ends of threads move", Discipline, "changes_access", silent_ends, Search("does not join")),
    ("regions entered by movers", Discipline, "changes_access", silent_regions,
     Search("not handed over")),
    ("locks that are tried move", Discipline, "lock_access", any_lock_moves,
     Search("tries a lock")),
    ("a put moves to both sides", QueueMovers, "_move_at", end_moves(End.PUTTING, Mover.BOTH),
     Search("seen after the put")),
    ("a get that makes room moves to both sides", QueueMovers, "_move_at",
     end_moves(End.GETTING, Mover.BOTH), Search("makes room for another")),
    ("puts of a second writer move", QueueMovers, "_move_at", end_moves(End.PUTTING, Mover.LEFT),
     Search("two writers")),
    ("gets of a second reader move", QueueMovers, "_move_at", end_moves(End.GETTING, Mover.LEFT),
     Search("two readers")),
    ("puts move although others look", QueueMovers, "_find_ends", ends_put_and_got,
     Search("looks at a queue")),
    ("empty queues of a select not noticed", Discipline, "awaits_others", lambda *a: False,
     Search("selects another queue")),
    ("locks that others release protect", Discipline, "lose_lock", lambda *a: Mover.NONE,
     Search("released by another")),
]  # fmt: skip

unsound = pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "search"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)


@unsound
def test_mutant_loses_a_violation(
    monkeypatch: pytest.MonkeyPatch, owner: Any, attribute: str, replacement: Any, search: Search
) -> None:
    assert search.violated()
    monkeypatch.setattr(owner, attribute, replacement)
    assert not search.finds()


@unsound
def test_without_the_mutant_nothing_is_lost(
    owner: Any, attribute: str, replacement: Any, search: Search
) -> None:
    assert search.finds()
    assert search.finds_natively()


# How many states each explores.  In "two ways to one end" the first thread is at the start, has
# made one of two choices, is in one of two branches before or behind its commit (g = 1), where they
# meet, or at its end: 9 states.  The second thread runs at the start, in both branches before the
# commit and at the end, once.  Where it has run first, there are these 9 again, and one more: the
# end with g = 0, if it ran last.  19 in all.  Without L11, the commit point of the branch explored
# last has no CPC flag, although it leads where the other one does, and the second thread runs
# there, too: one state, and one more where the branches meet.
WASTEFUL: list[tuple[str, Any, str, Any, Search, int, int]] = [
    ("L11 skipped", Transactions, "explore", without_propagation,
     Search("two ways to one end"), 19, 21),
]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "search", "states", "more"),
    [mutant[1:] for mutant in WASTEFUL],
    ids=[mutant[0] for mutant in WASTEFUL],
)
def test_mutant_explores_too_much(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    attribute: str,
    replacement: Any,
    search: Search,
    states: int,
    more: int,
) -> None:
    assert search.states() == search.states_natively() == states
    monkeypatch.setattr(owner, attribute, replacement)
    assert search.states() == more


# name, object, attribute, replacement, model whose movers it gets wrong
SPOILING: list[tuple[str, Any, str, Any, str]] = [
    ("locks taken by a step not counted", Discipline, "held", held_before,
     "condition whose lock is tried"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "model"),
    [mutant[1:] for mutant in SPOILING],
    ids=[mutant[0] for mutant in SPOILING],
)
def test_mutant_gives_up_movers(
    monkeypatch: pytest.MonkeyPatch, owner: Any, attribute: str, replacement: Any, model: str
) -> None:
    """`tests.soundness.test_movers` notices."""
    monkeypatch.setattr(owner, attribute, replacement)
    source = mover_models.MODELS[model]
    found = movers_by_line(table(mover_models.program_of(source)))
    assert found != mover_models.expected_movers(source, found)
