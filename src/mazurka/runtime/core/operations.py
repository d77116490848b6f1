"""What a thread can stand before: the operations of real programs.

Each says for any states of its objects whether it could go on and what it would touch then
(`stateless.runs.Operation`).  Two more things serve the scheduler alone, which asks at every point:
`free` operations can always go on, and `ready` answers for the present states without building the
list of touches.

Where a thread stands for ever inside a call of the library, its wait is about more than the
operation: `Future.result` waits for a notification of a condition, and so does `Barrier.wait`;
nobody who uses them knows of that condition.  So the frames between the operation and the user's
code are looked at then: the functions of the library that they run say what the wait is about.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from types import CodeType, FrameType
from typing import ClassVar, NamedTuple, TypeAlias

from mazurka.runtime.core.sites import is_plumbing_file
from mazurka.stateless.runs import LifeRole, Lookup, Shared, Touch


class Purpose(NamedTuple):
    """What a wait is about."""

    sort: str
    """What the thing is that is waited for: a future, a barrier."""
    text: str
    """With `{}` for what it is called."""
    origin: str | None = None
    """What to call it where it has no name."""


Explain: TypeAlias = Callable[[FrameType], Purpose | None]
"""Says what a function of the library waits for, from its frame; None if nothing is to be said."""
_explained: dict[CodeType, Explain] = {}


def explain_waits(functions: Mapping[CodeType, Explain]) -> None:
    """Declare functions of the library that wait, each with what says for what."""
    _explained.update(functions)


def purpose_at(frame: FrameType | None) -> Purpose | None:
    """Return what a thread that stands at a frame waits for, as its code calls it."""
    while frame is not None and is_plumbing_file(frame.f_code.co_filename):
        explain = _explained.get(frame.f_code)
        if explain is not None:
            return explain(frame)
        frame = frame.f_back
    return None


Yields: TypeAlias = bool | Callable[[Lookup], bool]
present: Lookup = attrgetter("state")
"""The states in which the objects are now."""


class Object(Shared):
    """A shared thing of a real program: the model of a lock, an event, a queue, a thread's life."""

    __slots__ = ("epoch", "kept_by", "origin")
    kind: ClassVar[str] = "object"

    def __init__(self, name: str, state: Hashable = None) -> None:
        self.name = name
        self.state = state
        self.epoch = 0
        """The run in which the name and the state were made; 0 before any."""
        self.kept_by: object = None
        """The exploration that named it for all its runs, where it outlives a single one."""
        self.origin: str | None = None
        """What people call it, where that is known."""

    def refresh(self) -> None:
        """Take the state over from the real thing: it existed before the run."""

    def restore(self, state: Hashable) -> None:
        """Put the real thing back into the state in which the run found it.

        Called after the run.  What threads that nobody controls have changed meanwhile stays."""
        self.state = state

    def __str__(self) -> str:
        return f"{self.kind} {self.origin or self.name}"


class Dial:
    """The clock, as a thing that threads share.

    To read it is to write this object: what one thread reads depends on who has slept before, and
    on who has read it before, since no two look at the same moment.  Whatever lets time pass reads
    it, so that it matters on which side of the others' looks it lies; two that sleep do not disturb
    each other (`primitives.clock`).  Programs that never look have no such reads: `passing` is
    empty for them.
    """

    __slots__ = ("clock", "passing")

    def __init__(self) -> None:
        self.clock = Object("clock")
        self.passing: tuple[Touch, ...] = ()
        """What an operation touches because it lets time pass."""

    @property
    def is_read(self) -> bool:
        """Whether the program is known to look."""
        return bool(self.passing)

    @is_read.setter
    def is_read(self, known: bool) -> None:
        self.passing = ((self.clock, False),) if known else ()


dial = Dial()


class RealOperation:
    """An operation of a real program: one that can always go on, unless a subclass says more."""

    __slots__ = ("ends", "shared")
    kind: ClassVar[str] = "step"
    free: ClassVar[bool] = True
    writes: ClassVar[bool] = True
    """Whether it changes anything if it goes on.  Operations on one object that change nothing are
    independent, and a thread that performs no others may be spinning."""
    can_spin: ClassVar[bool] = True
    """False for what is read once for all: it will never change again."""
    role: LifeRole = LifeRole.STEP
    joined: int = -1
    yields: Yields = False
    seconds: float = 0.0
    """How long the thread waits where it gives way."""
    ends: float
    """The moment for which a thread waits that gives way, in the time that it knows of."""
    is_timed: ClassVar[bool] = False
    """Whether a thread may give way here."""
    site: int | None = None
    """Where in the source it is, if that has a number (`core.sites`)."""

    def __init__(self, shared: Object) -> None:
        self.shared = shared

    def ready(self) -> bool:
        return True

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ((self.shared, self.writes),)

    def waits_for(self, purpose: Purpose | None) -> str:
        """Tell people what keeps the thread from going on; `purpose` is what the call of the
        library is about inside which it stands, if any."""
        how = self.kind.removeprefix("wait ")
        return f"{how if how != self.kind else f'to {how}'} {self.shared}"

    def holder(self) -> str | None:
        """Return the path of the thread that has what is waited for, if any has."""
        return None

    def takes(self) -> Object | None:
        """Return what the thread holds from then on if it goes on now, if anything."""
        return None

    def outcome(self) -> str:
        """Tell people how it will end if it goes on now, where that is open: `: timed out`."""
        return ""

    def objects(self) -> tuple[Shared, ...]:
        """Return all objects that it is about."""
        return (self.shared,)


def make_operation(
    kind: str,
    *,
    writes: bool = True,
    role: LifeRole = LifeRole.STEP,
    base: type[RealOperation] = RealOperation,
) -> type[RealOperation]:
    """Make a class of operations that only these words tell from others."""
    return type(kind, (base,), {"__slots__": (), "kind": kind, "writes": writes, "role": role})


class Waiting(RealOperation):
    """An operation that goes on in some states of its object only."""

    __slots__ = ()
    free = False

    def __init_subclass__(cls) -> None:
        if cls.lets is Waiting.lets:
            raise TypeError(f"{cls.__name__} does not say in which states it goes on: define lets")

    def lets(self, state: Hashable) -> bool:
        """Whether it goes on in this state."""
        raise NotImplementedError

    def ready(self) -> bool:
        return self.lets(self.shared.state)

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ((self.shared, self.writes),) if self.lets(lookup(self.shared)) else None


def describe_failure(patient: bool) -> str:
    """Tell people that an attempt fails: at once, or `patient`, after a time."""
    return ": timed out" if patient else ": not now"


class TryOperation(RealOperation):
    """An operation that never blocks: it succeeds in the states that let it, and fails in others.

    Timed ones (`seconds`, if there are any) fail by running out of time; the moment for which they
    are scheduled is the choice of their outcome.  While they cannot succeed, they give way.
    """

    __slots__ = ("seconds", "wanted")
    is_timed = True

    @property
    def role(self) -> LifeRole:  # type: ignore[override]
        return self.wanted.role and LifeRole.LOOK

    def __init__(self, wanted: Waiting, seconds: float) -> None:
        self.shared = wanted.shared
        self.wanted = wanted
        self.seconds = seconds

    @property
    def patient(self) -> bool:
        """Whether it waits for a time."""
        return self.seconds > 0

    @property
    def kind(self) -> str:  # type: ignore[override]
        return f"{'timed' if self.patient else 'try to'} {self.wanted.kind}"

    @property
    def yields(self) -> Yields:  # type: ignore[override]
        return self._would_fail if self.patient else False

    def _would_fail(self, lookup: Lookup) -> bool:
        return not self.wanted.lets(lookup(self.shared))

    @property
    def writes(self) -> bool:  # type: ignore[override]
        return self.wanted.writes and self.wanted.ready()

    def takes(self) -> Object | None:
        return self.wanted.takes() if self.wanted.ready() else None

    def outcome(self) -> str:
        return ": done" if self.wanted.ready() else describe_failure(self.patient)

    def objects(self) -> tuple[Shared, ...]:
        return self.wanted.objects()

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        found = self.wanted.at(lookup)
        if found:
            return found
        failed = ((self.shared, False),)
        return failed + dial.passing if self.patient else failed


class Idle(RealOperation):
    """An operation that touches nothing."""

    __slots__ = ()
    writes = False

    def __init__(self) -> None:
        pass

    def objects(self) -> tuple[Shared, ...]:
        return ()

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return ()


class ReadClock(RealOperation):
    """A thread looks at the clock; it has changed nothing, as far as waiting loops go."""

    __slots__ = ("again", "seen")
    kind = "read the clock"
    writes = False

    def __init__(self) -> None:
        super().__init__(dial.clock)
        self.again = False
        """It does so in one more round of a loop that waits (`spinning`): it lets time pass, and
        does not see what others have let pass."""
        self.seen = ""
        """What it showed, for people."""

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return dial.passing if self.again else ((self.shared, True),)


class Nap(Idle):
    """`time.sleep`: gives way."""

    __slots__ = ("seconds",)
    kind = "sleep"
    is_timed = True

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @property
    def yields(self) -> Yields:  # type: ignore[override]
        return True

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        return dial.passing

    def waits_for(self, purpose: Purpose | None) -> str:
        return "to sleep"
