"""The names that model files import.

A model is *parsed, never executed*: `mazurka check FILE` reads the source.  This module exists so
that editors and type checkers know the language; calling anything here raises an error that says
how models are checked, except for declarations, which do nothing.  `docs/models.md` is the
reference.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar, overload

__all__ = [
    "Array", "Barrier", "Bool", "BoundedSemaphore", "Channel", "Condition", "Event", "Handle",
    "Int", "LifoQueue", "Mutex", "Queue", "RMutex", "RWLock", "Semaphore", "assume", "atomic",
    "await_", "cas", "choose", "fetch_add", "invariant", "join", "ltl", "protected_by", "select",
    "spawn", "swap", "unprotected", "unshared", "yield_",
]  # fmt: skip

T = TypeVar("T")


def _only_checked(name: str) -> NoReturn:
    raise RuntimeError(
        f"`{name}` is part of Mazurka's model language, which is checked and not run: use"
        " `mazurka check FILE`"
    )


class ModelObject:
    """An object of the model language: none can be made, so methods have no bodies."""

    def __new__(cls, *_: object, **__: object) -> Self:
        _only_checked(cls.__name__)


if TYPE_CHECKING:
    Int = int
    Bool = bool
else:

    class Int(ModelObject):
        """An integer; `Int[low, high]` declares its range, both ends included."""

        def __class_getitem__(cls, ends: object) -> type:
            return cls

    class Bool(ModelObject):
        """A truth value."""


class Array(ModelObject, Generic[T]):
    """`Array(Type, length)`: objects side by side; `Array(Int[0, 3], 2, [1, 2])` has first values.

    The type may be `Int[low, high]`, `Bool`, a record class, a synchronization object, or another
    `Array(...)`.
    """

    def __init__(self, type: Any, length: int, initial: Sequence[Any] | int = 0) -> None: ...  # noqa: A002

    def __getitem__(self, index: int) -> Any: ...

    def __setitem__(self, index: int, value: Any) -> None: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


class Mutex(ModelObject):
    """A lock that only its holder may release; `Mutex(recursive=True)` may be taken repeatedly."""

    def __init__(self, recursive: bool = False) -> None: ...

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; without blocking or with a timeout, say whether it was free."""

    def release(self) -> None:
        """Give the lock back; releasing one that is not held is reported as an error."""

    def locked(self) -> bool:
        """Whether some thread holds the lock."""

    def __enter__(self) -> bool: ...

    def __exit__(self, *details: object) -> None: ...


class RMutex(Mutex):
    """A recursive `Mutex`."""

    def __init__(self) -> None: ...


class Semaphore(ModelObject):
    """A counter that `acquire` waits to take from; `max` bounds it for the analysis."""

    def __init__(self, value: int = 1, max: int | None = None) -> None: ...  # noqa: A002

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Take one; without blocking or with a timeout, say whether there was one."""

    def release(self, n: int = 1) -> None:
        """Put `n` back."""

    def __enter__(self) -> bool: ...

    def __exit__(self, *details: object) -> None: ...


class BoundedSemaphore(Semaphore):
    """A semaphore that must never exceed its first value."""

    def __init__(self, value: int = 1) -> None: ...


class Condition(ModelObject):
    """A condition variable with a lock: its own, or the one it is given."""

    def __init__(self, lock: Any = None) -> None: ...

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the condition's lock."""

    def release(self) -> None:
        """Give the condition's lock back."""

    def wait(self, timeout: float | None = None) -> bool:
        """Release the lock, wait to be notified, take the lock again."""

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> bool:
        """Wait until the predicate holds."""

    def notify(self, n: int = 1) -> None:
        """Wake the threads that have waited longest; nothing happens if nobody waits."""

    def notify_all(self) -> None:
        """Wake all threads that wait."""

    def __enter__(self) -> bool: ...

    def __exit__(self, *details: object) -> None: ...


class Event(ModelObject):
    """A flag that threads can wait for."""

    def __init__(self) -> None: ...

    def set(self) -> None:
        """Raise the flag."""

    def clear(self) -> None:
        """Lower the flag."""

    def is_set(self) -> bool:
        """Whether the flag is raised."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is raised."""


class Barrier(ModelObject):
    """A meeting point for `parties` threads."""

    def __init__(self, parties: int) -> None: ...

    def wait(self) -> int:
        """Wait for the others; the result is the order of arrival, from 0."""


class Queue(ModelObject):
    """A first-in, first-out queue of numbers, tuples of numbers, or frozen dataclasses of numbers.

    `Queue(2, Int[0, 9])` declares the range of numbers, `Queue(2, (Int[0, 1], Int[0, 9]))` those of
    the parts of tuples, and `Queue(2, Message)` a class.
    """

    def __init__(self, maxsize: int = 0, type: Any = None) -> None: ...  # noqa: A002

    def put(self, item: Any) -> None:
        """Append an item, waiting for space."""

    def get(self) -> Any:
        """Take the oldest item, waiting for one."""

    def qsize(self) -> int:
        """How many items there are."""

    def empty(self) -> bool:
        """Whether there is nothing to get."""

    def full(self) -> bool:
        """Whether there is no space."""

    def task_done(self) -> None:
        """Say that a number that was taken has been dealt with."""

    def join(self) -> None:
        """Wait until every number put in has been dealt with."""


class LifoQueue(Queue):
    """A queue that gives back the newest number first."""


class Channel(ModelObject):
    """A rendezvous channel: `put` waits until another thread has taken the item with `get`.

    `Channel(Int[0, 9])` declares what it carries, as for a `Queue`.
    """

    def __init__(self, type: Any = None) -> None: ...  # noqa: A002

    def put(self, item: Any) -> None:
        """Hand an item over, waiting for somebody who takes it."""

    def get(self) -> Any:
        """Take an item from a thread that hands one over, waiting for one."""


class RWLock(ModelObject):
    """A lock for many readers or one writer."""

    def __init__(self) -> None: ...

    def read(self) -> AbstractContextManager[None]:
        """`with lock.read():` shares the lock with other readers."""

    def write(self) -> AbstractContextManager[None]:
        """`with lock.write():` holds the lock alone."""

    def acquire_read(self) -> None:
        """Begin to read; waits while somebody writes."""

    def release_read(self) -> None:
        """Stop reading."""

    def acquire_write(self) -> None:
        """Begin to write; waits while anybody reads or writes."""

    def release_write(self) -> None:
        """Stop writing."""


class Handle(ModelObject):
    """A thread made with `spawn`."""

    def join(self) -> None:
        """Wait for the thread to end."""

    def is_alive(self) -> bool:
        """Whether the thread has not ended yet."""


def assume(condition: Any) -> None:
    """Leave out executions in which the condition does not hold here: the thread stops."""
    _only_checked("assume")


def await_(condition: Any) -> None:
    """Wait until the condition holds; it is evaluated in one step."""
    _only_checked("await_")


def atomic() -> AbstractContextManager[None]:
    """`with atomic():` makes one indivisible step of the block."""
    _only_checked("atomic")


@overload
def choose(values: range, /) -> int: ...
@overload
def choose(first: T, /, *others: T) -> T: ...
def choose(first: Any, /, *others: Any) -> Any:
    """Any one of the values: every choice is explored."""
    _only_checked("choose")


def cas(place: Any, old: int, new: int) -> bool:
    """In one step: if the place holds `old`, store `new` and say True; else say False."""
    _only_checked("cas")


def fetch_add(place: Any, amount: int) -> int:
    """In one step: add to the place and give its old value."""
    _only_checked("fetch_add")


def swap(place: Any, value: int) -> int:
    """In one step: store in the place and give its old value."""
    _only_checked("swap")


def select(*queues: Any) -> tuple[int, Any]:
    """Wait until one of several queues or channels has an item, and take it, in one step.

    `which, item = select(orders, payments if open else None)` gives the position of the queue and
    the item; None leaves a queue out.  If several have an item, every choice is explored.
    """
    _only_checked("select")


def yield_() -> None:
    """A step that does nothing: others may run."""
    _only_checked("yield_")


def spawn(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Handle:
    """Make a thread that runs the function, and start it."""
    _only_checked("spawn")


def join(thread: Handle) -> None:
    """Wait for the thread to end."""
    _only_checked("join")


def invariant(condition: object, message: str = "", /) -> None:
    """Declare that the condition holds in every reachable state; does nothing itself."""


def ltl(formula: str, /, *, fair: bool = False) -> None:
    """Declare that all runs satisfy a temporal formula, `G (req -> F ack)`; does nothing itself.

    With `fair`, runs that pass over a thread for ever which could always move are left out."""


def protected_by(lock: Any, *places: Any) -> None:
    """Declare that the places are only used by threads that hold the lock; does nothing itself."""


def unprotected(*places: Any) -> None:
    """Declare that several threads use the places without a common lock; does nothing itself."""


def unshared(*places: Any) -> None:
    """Declare that one thread alone uses each of the places; does nothing itself."""
