"""Dynamic partial-order reduction.

Flanagan, Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software* (POPL 2005),
Figures 3 and 4.  One thread is explored from a node; while the run goes on, each action that some
thread would take next is held against the actions of the past.  Where two of them could have come
in the other order, the node before the earlier one gets a **backtrack point**.

Theorem 1 there: when a node is left, the threads explored from it are a persistent set, so every
deadlock and every failure of a thread is found, if all executions end.

| paper | here |
|---|---|
| S, pre(S, i), last(S) | `trace`, `nodes[i]`, `nodes[-1]` |
| next(s, p) | `Node.actions[p]`, attempts of threads that cannot move included |
| backtrack(s) | `Node.backtrack` |
| i →_S p | `past`: bit i |
| E | the threads between i and p's next action, see `add_backtrack_point` |

Deviations from the paper.

- The paper takes the last dependent action, which is enough where an action touches one object. A
  step here may touch several, and one that comes in between may decide which.  So all dependent
  actions count that do not happen before another one of them.
- The paper may take any member of E.  Here it is the thread whose event comes first.
- "May be co-enabled" is taken for granted.  A release is dependent on an acquire, and then the
  thread cannot move before the release and all that are enabled there are explored; the acquire
  before it was held against the waiting thread's attempt when that was new.
- A thread with several choices is explored with all of them; with sleep sets, some of them may be
  asleep, and the orders in which these come later are looked for at the end of each run
  (`races.find_other_choices`).
- What has happened is looked at when a run ends, not after each step; nodes are the same then.

With sleep sets.  The two do not go together as they are: a thread taken from E may be asleep, for
the sake of runs in which it comes before something that happened here, and then the runs in which
it comes after that are lost (`tests/unit/stateless/reduction/test_search.py` has such a program).
The same holds for a thread that can move only for a moment: the run in which its attempt would have
been seen may have been given up.  `SleepingReduction` therefore takes a thread that could begin the
other order (an *initial* in the words of POPL 2014, see `source_dpor.py`) and finds the other
orders as that algorithm does; unlike that one it does not ask whether another such thread is
explored already.
"""

from __future__ import annotations

from mazurka.stateless.reduction.actions import Action, Events
from mazurka.stateless.reduction.races import find_other_choices, find_reversals, initials
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepingNode
from mazurka.stateless.reduction.trace import bits, up_to


class DynamicReduction(ScheduleSearch):
    """Without sleep sets, as in the paper's figures."""

    uses_sleep_sets = False

    def choose(self, position: int) -> Action | None:
        node = self.nodes[position]
        awake = node.awake()
        if awake and not node.backtrack:
            node.backtrack.add(awake[0].thread)
        return next((action for action in awake if action.thread in node.backtrack), None)

    def look_back(self) -> None:
        for position in range(self.replayed + 1, len(self.nodes)):
            self.pulse()
            for thread, actions in self.nodes[position].actions.items():
                past = self.trace.past(thread, position)
                for action in actions:
                    for earlier in bits(self.races_with(action, position, past)):
                        self.add_backtrack_point(earlier, thread, past)

    def races_with(self, action: Action, position: int, past: Events) -> Events:
        """The events before `position` that could as well come after the action.

        If the action was there one step earlier, and the last event does not matter to it, there is
        nothing new.
        """
        known = self.nodes[position - 1].actions.get(action.thread, ())
        last = self.trace.actions[position - 1]
        if any(action is same for same in known) and not last.depends(action):
            return 0
        dependent = self.trace.conflicting(action, position) & ~past
        return sum(1 << earlier for earlier in self.trace.maximal(dependent))

    def add_backtrack_point(self, earlier: int, thread: int, past: Events) -> None:
        """See to it that the event is also preceded by what the thread's action needs.

        A thread that could not move there needs somebody's help, and nobody knows whose.
        """
        node = self.nodes[earlier]
        between = past & ~up_to(earlier + 1)
        if between:
            first = next(bits(between))
            node.backtrack.add(self.trace.actions[first].thread)
        elif any(action.enabled for action in node.actions.get(thread, ())):
            node.backtrack.add(thread)
        else:
            node.backtrack.update(action.thread for action in node.enabled)


class SleepingReduction(DynamicReduction):
    """With sleep sets."""

    name = "dpor"
    uses_sleep_sets = True

    def look_back(self) -> None:
        for reversal in find_reversals(self.trace, self.nodes[-1], self.foresight, self.replayed):
            self.pulse()
            self.add_initial(self.nodes[reversal.position], initials(reversal.sequence))
        for position in self.find_choices():
            node, thread = self.nodes[position], self.trace.actions[position].thread
            covered = {action.move for action in node.actions[thread]}  # explored, or asleep
            for reversal in find_other_choices(self.trace, self.foresight, position, covered):
                self.pulse()
                self.add_initial(node, initials(reversal.sequence))

    def add_initial(self, node: SleepingNode, threads: list[int]) -> None:
        """Let one of the threads be explored that could begin another order."""
        node.backtrack.add(threads[0])
