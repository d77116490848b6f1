"""What a schedule search sees of a program: threads, the action each would take next, a step.

An **execution** is a program that runs under somebody else's control.  It stands somewhere; each of
its threads has a **next action**, known before it is taken; `step` takes one.  Nothing else about
the program's state can be seen, so the same searches run models (`stateless.ir_execution`) and
real threads, whose state nobody can copy.

What a search relies on:

1. *Determinism.*  The same moves from the start lead to the same actions, failures and ends.
2. *Exact footprints.*  An action names the objects that it reads and writes if taken now.  What a
   thread does next, whether it can, and what it touches depends on its own past and on what it
   reads.  So actions without a **conflict** (one object, two threads, at least one write) commute,
   and neither enables or disables the other.
3. *An attempt reads.*  A thread that cannot move names what it looked at: a waiting thread reads
   the lock it waits for.  Where an action would change by what another thread does, the two
   conflict both before and after it is done.
4. *Stable names.*  Objects and threads have the same names in equivalent executions; a name is made
   from who created the object and when in that thread's life, not from an address."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

SharedObject: TypeAlias = Hashable
"""The stable name of anything that threads share: a variable, a lock, a thread's life."""


class Move(NamedTuple):
    """One entry of a schedule: which thread, and which of its nondeterministic choices."""

    thread: int
    choice: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What a thread would do next, or what it looks at while it cannot.

    Two actions are the same only if they are one object: an execution keeps a thread's actions for
    as long as nobody has changed what they read, and searches save work by that.
    """

    move: Move
    kind: str
    """What it does, for people: `acquire`, `access`, `put`."""
    reads: frozenset[SharedObject]
    writes: frozenset[SharedObject]
    """Empty where the thread cannot move: an attempt changes nothing."""
    enabled: bool = True
    may_block: bool = False
    """Whether others decide if the thread can move at this point of its life."""
    fixed: bool = True
    """Whether every attempt from this point of its life touches the same objects (if it cannot
    move, at most those), whatever others do."""
    watched: frozenset[SharedObject] | None = None
    """Everything that any attempt from this point may read; None for anything.  Needed only where
    the action may block or is not fixed."""

    life: SharedObject | None = None
    """What stands for the thread's existence, where others begin it: an object that each of its
    actions reads and its creator writes.  What the thread does before that is another matter, so
    `may_block` and `fixed` say nothing about it."""

    def conflicts(self, other: Action) -> bool:
        """Whether it matters which of the two comes first, as far as objects tell."""
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )

    def depends(self, other: Action) -> bool:
        """Dependence: of one thread, or in conflict."""
        return self.move.thread == other.move.thread or self.conflicts(other)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a step: an assertion, an exception, a range that was left."""

    kind: str
    message: str
    place: str
    """File and line."""
    unfinished: bool = False
    """The step never came to an end, so that nothing which depends on it is real."""


class Execution(Protocol):
    """A program under control.  It begins at its start."""

    def threads(self) -> Sequence[int]:
        """The threads that exist or can come to exist, in a stable order."""

    def next_actions(self, thread: int) -> tuple[Action, ...]:
        """What the thread would do now: one action for each choice, or one attempt, or none."""

    def step(self, move: Move) -> Failure | None:
        """Take an enabled action, and say what went wrong."""

    def deadlocked(self) -> bool:
        """Whether threads wait, none can go on, and nothing else has stopped one."""

    def endless(self) -> str | None:
        """File and line of a step that led back to where the run has been before, so that it can
        go round for ever; None if there is none, or nobody can tell."""

    def rewind(self, depth: int) -> None:
        """Stand where the first `depth` steps led: by a restart and those steps once more, or by
        something quicker."""

    def preview(self, depth: int, moves: Sequence[Move], thread: int) -> tuple[Action, ...]:
        """What the thread would do after the first `depth` steps and then the given moves.

        The execution still stands where it stood.  Moves that do not exist are the caller's error.
        A program that cannot be rewound runs the schedule once more for this, or derives the
        answer from what it has recorded.
        """


def enabled_actions(execution: Execution) -> list[Action]:
    """Everything that can happen next."""
    return [
        action
        for thread in execution.threads()
        for action in execution.next_actions(thread)
        if action.enabled
    ]
