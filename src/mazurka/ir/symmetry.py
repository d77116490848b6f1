"""Threads that can be told apart by their numbers only, and one state for all their renamings.

A `ThreadClass` says which threads are interchangeable and what belongs to each of them: a *column*
is one cell for each member (its program counter, a local cell, its flag in a read-write lock), a
*holder* is a shared cell whose value is a thread's number plus one (the owner of a lock, a place
in the queue of a condition).  A permutation of the members moves the values of each column along
and renames the members in the holders.  `mazurka.analysis.interchangeable` proves that all such
permutations map steps to steps; here they are only carried out.

**The canonical form** of a state is one of its renamings: the members of one class after the other
are sorted by their *keys*.  The key of a member consists of its values in all columns, and for each
holder of whether it names the member.  Two members with the same key can change places without
changing the state, for no holder names either of them.  So the sorted keys of a class determine the
state up to other classes.  If no cell of a class belongs to another class, too, then two states
have the same canonical form if and only if one is a renaming of the other.

Classes may share cells: where each thread of one class keeps the number of a thread of another
class in a cell of its own, this cell is in a column of the first and a holder of the second class.
Sorting the second class by its keys then changes the keys of the first.  A set of renamings may
have several canonical forms in this case, which costs states, and nothing else: searches only rely
on each canonical form being a renaming (`mazurka.stateful.quotient`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.program import Program

Renaming: TypeAlias = dict[int, int]
"""New numbers of threads; a thread that is missing keeps its own."""


@dataclass(frozen=True)
class ThreadClass:
    """Threads that are interchangeable, and what belongs to each of them."""

    members: tuple[int, ...]
    """Thread numbers, in ascending order."""
    columns: tuple[tuple[int, ...], ...]
    """Addresses, for each member one; the columns that count most in a key come first."""
    holders: tuple[int, ...]
    """Shared cells that contain the number of a thread plus one, or 0."""

    def keys(self, state: State) -> list[tuple[int, ...]]:
        return [
            (
                *(state[column[position]] for column in self.columns),
                *(int(state[holder] == member + 1) for holder in self.holders),
            )
            for position, member in enumerate(self.members)
        ]

    def order(self, state: State) -> list[int]:
        """The positions of the members, sorted by their keys."""
        keys = self.keys(state)
        return sorted(range(len(keys)), key=keys.__getitem__)

    def rearrange(self, state: State, order: list[int]) -> State:
        """The state in which the member at position `order[k]` has the number of the k-th one."""
        cells = list(state)
        for column in self.columns:
            for new, old in enumerate(order):
                cells[column[new]] = state[column[old]]
        names = {self.members[old] + 1: self.members[new] + 1 for new, old in enumerate(order)}
        for holder in self.holders:
            cells[holder] = names.get(state[holder], state[holder])
        return tuple(cells)


@dataclass(frozen=True)
class Symmetry:
    """All classes of interchangeable threads of a program; a thread is in at most one."""

    classes: tuple[ThreadClass, ...]

    def canonical(self, state: State) -> State:
        """A renaming of the state with sorted members."""
        return self.rename(state)[0]

    def rename(self, state: State) -> tuple[State, Renaming]:
        """The canonical form of a state, and the numbers that its threads have there."""
        renaming: Renaming = {}
        for each in self.classes:
            order = each.order(state)
            state = each.rearrange(state, order)
            renaming.update((each.members[old], each.members[new]) for new, old in enumerate(order))
        return state, renaming

    def names(self, program: Program) -> str:
        """The threads of each class, for people."""
        groups = ([program.threads[number].name for number in c.members] for c in self.classes)
        return "; ".join(", ".join(group) for group in groups)


class CanonicalInterpreter(Interpreter):
    """Takes the steps of another interpreter, and continues from canonical states."""

    def __init__(self, inner: Interpreter, symmetry: Symmetry) -> None:
        super().__init__(inner.program)
        self.inner = inner
        self.symmetry = symmetry

    def step(self, state: State, thread: int, choice: int = 0) -> Step:
        step = self.inner.step(state, thread, choice)
        return step._replace(state=self.symmetry.canonical(step.state)) if step.happened else step
