"""Inserting sequences in wakeup trees, and what may come first in a sequence."""

from __future__ import annotations

from tests.unit.stateless.reduction.test_schedule_trace import act

from mazurka.stateless.reduction.actions import Action
from mazurka.stateless.reduction.optimal_dpor import WakeupTree
from mazurka.stateless.reduction.races import initials, remove_initial
from mazurka.stateless.runs import move_of

P, Q, R = act(0, writes="x"), act(1, writes="x"), act(2, writes="y")


def paths(tree: WakeupTree) -> list[list[int]]:
    found = []
    for action, subtree in tree.branches:
        thread = action.thread
        found.extend([[thread, *path] for path in paths(subtree)] or [[thread]])
    return found


def tree_of(*sequences: list[Action]) -> WakeupTree:
    tree = WakeupTree()
    for sequence in sequences:
        tree.insert(sequence)
    return tree


def test_initials() -> None:
    assert initials([P, Q, R]) == [0, 2]
    assert initials([R, P]) == [2, 0]
    assert initials([P, P, R]) == [0, 2]


def test_weak_initials() -> None:
    assert remove_initial([P, R], R) == [P]
    assert remove_initial([P, Q], Q) is None  # it comes after P, on which it depends
    assert remove_initial([P], R) == [P]  # not there, and depends on nothing
    assert remove_initial([P], Q) is None
    other_choice = Action(0, move_of(0, 1), frozenset(), frozenset())
    assert remove_initial([P], other_choice) is None  # of the same thread


def test_new_sequences_are_new_branches_on_the_right() -> None:
    assert paths(tree_of([P, Q], [Q, P])) == [[0, 1], [1, 0]]


def test_a_sequence_that_may_begin_with_a_path_adds_nothing() -> None:
    assert paths(tree_of([P], [P, Q])) == [[0]]
    assert paths(tree_of([P], [R, P])) == [[0]]
    assert paths(tree_of([R], [P, Q])) == [[2]]  # nothing there depends on the path


def test_a_sequence_parts_from_a_path_where_they_differ() -> None:
    assert paths(tree_of([R, P, Q], [R, Q, P])) == [[2, 0, 1], [2, 1, 0]]
    assert paths(tree_of([R, P, Q], [Q, P])) == [[2, 0, 1], [2, 1, 0]]


def test_a_part_of_a_path_adds_nothing() -> None:
    assert paths(tree_of([P, Q], [P])) == [[0, 1]]
