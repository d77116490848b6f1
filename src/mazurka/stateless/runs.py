"""What a context-bounded search sees of a program: whole runs, decided at each scheduling point.

Real threads cannot be copied, and stopping one costs more than most of its steps.  So a search does
not drive a program step by step (`stateless.execution`); the program **runs**, from its start to
its end, and asks the search at each **scheduling point** which thread goes on.  The question is
asked by whatever thread is running, and costs a function call where the same thread goes on.

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

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, TypeAlias, runtime_checkable

ObjectName: TypeAlias = Hashable
"""Stable across runs: made of who created the object and when in that thread's life."""


class Shared:
    """Anything that threads share: a variable, a lock, a queue, a thread's life."""

    __slots__ = ("name", "state")

    def __init__(self, name: ObjectName, state: Hashable = None) -> None:
        self.name = name
        self.state = state
        """What decides whether operations can go on; None for plain data, which blocks nobody."""


Touch: TypeAlias = tuple[Shared, bool]
"""An object, and whether it is written."""
Lookup: TypeAlias = Callable[[Shared], Hashable]
"""The state of an object at some moment."""


class Role(IntEnum):
    """What an operation has to do with the life of a thread.

    An operation may have an attribute `role`; without one it is a `STEP`.  A search may take ends
    and joins as soon as they can go on, without counting them as steps (`stateless.lives`).
    """

    STEP = 0
    END = 1
    """The end of the thread that performs it.  Always possible."""
    JOIN = 2
    """Waits for the end of a thread that has begun, whose number is the attribute `joined`."""
    LOOK = 3
    """Does something else that depends on whether a thread has ended."""


class Operation(Protocol):
    """What a thread stands before.  One object for as long as the thread stands there."""

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

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        """What it would touch if the objects were in these states; None if it could not go on.

        Reads are touches, too.  An operation that could not go on reads what it waits for.
        """


class Decider(Protocol):
    """A search, as a running program sees it."""

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        """Which thread goes on.

        `pending` has an entry for each thread that has ever begun, in the order of their numbers:
        the operation it stands before, or None after its end.  `enabled` are the threads that can
        go on now, never empty.  `last` is the thread that took the previous step, -1 at the start.
        The objects still have the states in which the previous step left them.
        """


Slip: TypeAlias = "Callable[[int, Operation, Sequence[Operation | None]], None]"
"""A thread passes its end, or a join; the other threads stand there."""


class Guide(Decider, Protocol):
    """A search whose run begins as the one before did.

    It need not be asked about steps that are settled; a program may ask all the same.
    """

    @property
    def slip(self) -> Slip | None:
        """What is told of ends and joins of threads, if these are to be taken as soon as they can
        go on; after the steps that are settled, the search need not be asked about them."""

    @property
    def prefix(self) -> Sequence[int]:
        """The threads that take the first steps."""

    def left(self, count: int) -> None:
        """So many of these steps have been taken without asking."""


@runtime_checkable
class Witness(Decider, Protocol):
    """A search that is to see the end of a run."""

    def over(self, pending: Sequence[Operation | None]) -> None:
        """Nobody can go on, or the program ends the run itself.

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


@dataclass(kw_only=True)
class Ended:
    """How a run ended: nobody could go on, or it was abandoned."""

    failures: list[Failed] = field(default_factory=list)
    abandoned: bool = False
    pending: Sequence[Operation | None] = ()
    """Where the threads stand at the end; None for those that have ended."""


class Runnable(Protocol):
    """A program that can be run again and again from its start."""

    def run(self, decider: Decider) -> Ended:
        """From the start until nobody can go on.

        A run that does not tell a `Witness` about its end leaves the objects as they are then.
        One that ends although somebody could go on says `abandoned`.
        """
