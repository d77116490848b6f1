"""Optimal dynamic partial-order reduction: each Mazurkiewicz trace once, and no run in vain.

Abdulla, Aronis, Jonsson, Sagonas, *Optimal Dynamic Partial Order Reduction* (POPL 2014), Algorithm
2. Where source sets say which thread to run next, a **wakeup tree** says which sequence: it leads
to the reversed race, and everything asleep at its root is awake at its leaves.  So no run is given
up.

Theorems 5.1 and 5.2 there: each trace is completed, exactly once, and no run is blocked by sleep
sets.

| paper | here |
|---|---|
| wut(E), sleep(E) | `trees[position]`, `Node.sleep` |
| v = notdep(e, E).e' | `Reversal.sequence` |
| WI(v) | `races.remove_initial` |
| insert(v, wut(E)) | `WakeupTree.insert` |

Deviations: threads may disable each other, and what a step touches may depend on the state
(`races.py`).  The entries of trees and sleep sets are moves, a thread with its choice; before a
thread moves, its other choices at the same node are inserted as sequences of one move, unless
something that sleeps could come before them.  Runs in which these choices are made later, behind
what keeps it from sleeping, are found as reversals: choices exclude each other.  The order of a
tree's branches is that of insertion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mazurka.errors import InternalError
from mazurka.stateless.reduction.actions import Action, Move
from mazurka.stateless.reduction.races import find_other_choices, find_reversals, remove_initial
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepingNode


@dataclass
class WakeupTree:
    """Sequences to be run from a node: the paths from the root to the leaves, left to right."""

    branches: list[tuple[Action, WakeupTree]] = field(default_factory=list)

    def insert(self, sequence: Sequence[Action]) -> None:
        """Add a sequence, unless some path is equivalent to a part of it that may come first."""
        tree, rest = self, list(sequence)
        while rest:
            step = tree.follow(rest)
            if step is None:
                tree.append(rest)
                return
            tree, rest = step
            if not tree.branches:
                return  # a leaf: whatever can follow it is explored

    def follow(self, sequence: Sequence[Action]) -> tuple[WakeupTree, list[Action]] | None:
        """The leftmost branch that the sequence may begin with, and what then is left of it."""
        for action, subtree in self.branches:
            rest = remove_initial(sequence, action)
            if rest is not None:
                return subtree, rest
        return None

    def append(self, sequence: Sequence[Action]) -> None:
        tree = self
        for action in sequence:
            following = WakeupTree()
            tree.branches.append((action, following))
            tree = following

    def subtree(self, move: Move) -> WakeupTree:
        return next(tree for action, tree in self.branches if action.move == move)

    def remove(self, move: Move) -> None:
        self.branches = [branch for branch in self.branches if branch[0].move != move]


class WakeupTrees(ScheduleSearch):
    """Wakeup trees and sleep sets."""

    name = "optimal-dpor"

    def choose(self, position: int) -> Action | None:
        tree, node = self.trees[position], self.nodes[position]
        if not tree.branches and not node.explored:
            for action in node.awake()[:1]:
                tree.append([action])
        if not tree.branches:
            return None
        move, thread = tree.branches[0][0].move, tree.branches[0][0].thread
        for action in node.enabled:
            if action.thread == thread and action.move != move:
                self.insert(position, [action])
        return self.enabled_action(node, move)

    def enabled_action(self, node: SleepingNode, move: Move) -> Action:
        for action in node.enabled:
            if action.move == move:
                return action
        raise InternalError(f"a wakeup tree asks for {move}, which cannot be taken")

    def insert(self, position: int, sequence: Sequence[Action]) -> None:
        asleep = self.nodes[position].sleep.values()
        if all(remove_initial(sequence, action) is None for action in asleep):
            self.trees[position].insert(sequence)

    def note_arrival(self, position: int, by: Action | None) -> None:
        if by is None:
            self.trees = [WakeupTree()]
        else:
            self.trees.append(self.trees[-1].subtree(by.move))

    def note_departure(self, position: int, by: Action) -> None:
        self.trees.pop()
        self.trees[position].remove(by.move)

    def look_back(self) -> None:
        """Of every run all races: an old one may have other events beside it now, which keep
        something from sleeping."""
        for reversal in find_reversals(self.trace, self.nodes[-1], self.foresight):
            self.pulse()
            self.insert(reversal.position, reversal.sequence)
        for position in self.find_choices():
            covered = self.find_covered(position)
            for reversal in find_other_choices(self.trace, self.foresight, position, covered):
                self.pulse()
                self.insert(position, reversal.sequence)

    def find_covered(self, position: int) -> set[Move]:
        """The moves from a node behind which everything is explored: the present one, those that
        sleep, and the leaves of its tree."""
        leaves = [each.move for each, tree in self.trees[position].branches if not tree.branches]
        return {self.trace.actions[position].move, *self.nodes[position].sleep, *leaves}
