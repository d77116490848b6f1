"""What a search sees of a program: whole runs, decided at each scheduling point.

Real threads cannot be copied, and stopping one costs more than most of its steps.  So a search does
not drive a program step by step; the program **runs**, from its start to its end, and asks the
search at each **scheduling point** which thread goes on.  The running thread asks, in a plain
function call; where the same thread goes on, that is all it costs.

What a search relies on:

1. *Determinism.*  The same decisions lead to the same operations on objects of the same names.
2. *Points lie before operations.*  Every thread that has begun and not ended stands before its next
   operation, which is known.  Which operation that is depends on the thread's own past alone: on
   what it read.  So a thread that has done n operations in two equivalent runs stands before the
   same one in both.  Threads have the same numbers in equivalent runs.
3. *Objects tell everything.*  Whether an operation can go on depends on the states of the objects
   it touches.  Operations of two threads that share no object, or only read shared ones, commute.
4. *States are values.*  The state of an object is immutable, hashable, and the same in equivalent
   runs; a search keeps the states an object has passed through and asks an operation whether it
   could go on in a state that is long gone (section 3 of paper 001: prefixes that were never
   driven).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, TypeAlias

ObjectName: TypeAlias = Hashable
"""Stable across runs: made of who created the object and when in that thread's life."""


MOVE_BITS = 20
MOST_THREADS = (1 << MOVE_BITS) - 1


class Shared:
    """An object that threads share: a variable, a lock, a queue, a thread's life."""

    __slots__ = ("name", "state")

    def __init__(self, name: ObjectName, state: Hashable = None) -> None:
        self.name = name
        self.state = state
        """What decides whether operations can go on; None for plain data, which blocks nobody."""


Touch: TypeAlias = tuple[Shared, bool]
"""An object, and whether it is written."""
Lookup: TypeAlias = Callable[[Shared], Hashable]
"""The state of an object at some moment."""


def move_of(thread: int, choice: int) -> int:
    """A thread and which of its choices it makes, as one number: the thread's, if it has none."""
    return choice << MOVE_BITS | thread


def thread_of(move: int) -> int:
    """The thread of a move."""
    return move & MOST_THREADS


def choice_of(move: int) -> int:
    """The choice of a move; 0 for a thread that has none."""
    return move >> MOVE_BITS


class LifeRole(IntEnum):
    """How an operation concerns the life of a thread.

    A search may take ends and joins as soon as they can go on, without counting them as steps
    (`stateless.bounded.lives`).
    """

    STEP = 0
    END = 1
    """The end of the thread that performs it.  Always possible."""
    JOIN = 2
    """Waits for the end of a thread that has begun (`Operation.joined`)."""
    LOOK = 3
    """Does something else that depends on whether a thread has ended."""


class Operation(Protocol):
    """What a thread is going to do next; the same object until it has done it."""

    @property
    def kind(self) -> str:
        """What it does, for people: `acquire`, `read`, `put`."""

    @property
    def yields(self) -> bool | Callable[[Lookup], bool]:
        """The thread gives way here: to run another one instead is no preemption, but to let this
        one go on again may be (`stateless.preemptions`).

        The same for as long as the thread stands there.  Where it depends on the states of objects
        it is a function of them, for it is asked about states that are long gone.
        """

    @property
    def seconds(self) -> float:
        """How long the thread waits where it gives way; 0 where it only lets others go first."""

    @property
    def ends(self) -> float:
        """The moment for which the thread waits where it gives way, in the time it knows of."""

    @property
    def role(self) -> LifeRole:
        """What it has to do with the life of a thread; most are a `STEP`."""

    @property
    def joined(self) -> int:
        """The number of the thread whose end a `JOIN` waits for; -1 for all other operations."""

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        """What it would touch if the objects were in these states; None if it could not go on.

        Reads are touches, too.  An operation that could not go on reads what it waits for.
        """


Slip: TypeAlias = "Callable[[int, Operation, Sequence[Operation | None]], None]"
"""A thread passes its end, or a join; the other threads stand there."""


class Decider(ABC):
    """A search, as a running program sees it.

    Only `decide` must be defined.  The rest is for searches that can do with fewer questions, or
    want to see the end of a run; a program may ignore `prefix` and `slip` and ask about every step.
    """

    @abstractmethod
    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Say which thread goes on.

        `pending` has an entry for each thread that has ever begun, in the order of their numbers:
        the operation it stands before, or None after its end.  `enabled` are the threads that can
        go on now, never empty.  `last` is the thread that took the previous step, -1 at the start.
        The objects still have the states in which the previous step left them.

        A program with nondeterministic steps offers a *move* for each way in which a thread can go
        on (`move_of`); the move of a thread that has no choice is its number.
        """

    @property
    def prefix(self) -> Sequence[int]:
        """The moves with which the next run begins, as the run before did: the search need not be
        asked about them."""
        return ()

    def left(self, count: int) -> None:  # noqa: B027 - for deciders with a prefix
        """Note that so many steps of the prefix have been taken without asking."""

    def follow(self, step: int) -> None:  # noqa: B027 - for deciders that watch
        """Note a step of the prefix after which a thread may know that it is alone."""

    @property
    def slip(self) -> Slip | None:
        """What is told of ends and joins of threads, if these are to be taken as soon as they can
        go on; after the prefix, the search need not be asked about them."""
        return None

    def over(self, pending: Sequence[Operation | None]) -> None:  # noqa: B027 - for some
        """Note that nobody can go on, or that the program ends the run itself.

        Called while the objects still have the states in which the last step left them.  Where a
        run unwinds threads that are stuck, which may change those states, it calls this before.
        """


class Abandon(BaseException):
    """Raised by a search to end the present run at once; the program unwinds and returns."""


class OutOfTime(BaseException):
    """Raised by a program instead of a run, or in the middle of one: there is no time left."""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """What went wrong in a run."""

    kind: str
    """`exception`, `assert`, `deadlock`, `livelock`, `race`, `leak`, ..."""
    message: str
    thread: int | None = None
    file: str | None = None
    line: int | None = None
    details: tuple[str, ...] = ()
    """More lines for people: who waits for what and where."""
    step: int | None = None
    """The position of the step that failed, where nothing but what happens before that step has to
    do with it."""
    unfinished: bool = False
    """The step never came to an end, so that nothing which depends on it is real."""


@dataclass(kw_only=True)
class Ended:
    """How a run ended: nobody could go on, or it was abandoned."""

    failures: list[Failed] = field(default_factory=list)
    abandoned: bool = False
    pending: Sequence[Operation | None] = ()
    """Where the threads stand at the end; None for those that have ended."""
    limit: str | None = None
    """Why the run, and with it the search, cannot come to an end."""
    skipped: str | None = None
    """What a test says that ends itself early without failing: `skip: not on this system`."""


class Runnable(Protocol):
    """A program that can be run again and again from its start."""

    def run(self, decider: Decider) -> Ended:
        """Run the program from its start until nobody can go on.

        A run that does not call `Decider.over` leaves the objects as they are at its end.
        One that ends although somebody could go on says `abandoned`.
        """
