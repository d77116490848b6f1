"""Threads that go round a loop and wait for what others will write.

A thread makes no progress if it comes back to the same place, with the same stack and the same
local variables, having written nothing in between, and everything that it read still is as it
was: it would go the same round again.  It then stands before a `Spin`, which can go on when one
of the objects it read has changed.  If nobody is left to change them, this is a livelock.

What has brought it back must be a loop of Python code.  So the innermost frame in which it has been
all the time has to stand where a jump backwards can lead: if C code has called the program twice,
that frame stands at one call of it, or in Mazurka's function that calls it (`print` asks one
argument after the other for its text, a sort compares one pair after the other).

What a thread keeps out of sight of its frames is not compared: whatever moves such a thing ends the
round (`sharing.locations.progress`).  Iterators of `for` statements do so for the rounds of loops
around them only if they are older than the round; see `python.iteration.loops`.

A thread that polls the clock goes through time in leaps, each four times the last, and sixteen
times once it is seen to come round, until it writes something: every deadline is reached in a few
rounds.  When it has come round, it no longer sees what others' sleep does to the clock: had they
slept one round earlier, it would have seen that then, as the same thread in the same place.  What
is left of the time that it reads, such as `left = end - now`, does not make it another one.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Hashable, Sequence
from datetime import datetime
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

from mazurka.runtime.core.frame_variables import read_variables
from mazurka.runtime.core.insides import is_one_of
from mazurka.runtime.core.operations import Object, Purpose, ReadClock, RealOperation, dial
from mazurka.runtime.core.sites import BEGIN_ROUND, MARK
from mazurka.runtime.core.tasks import Task
from mazurka.stateless.runs import LifeRole, Lookup, Shared, Touch

TICK = 1e-6
LEAP = 4
FOREVER = 1e8
"""After a leap of so many seconds nobody waits for time any more, and it stands still."""
MEMORY = 64
"""Rounds longer than this many reads are not recognised."""

Place: TypeAlias = tuple[CodeType, int] | int
NEVER = sys.maxsize
_PLAIN: tuple[type, ...] = (int, float, str, bytes, bool, type(None), datetime)
_OWN: set[int] = set()
"""The identities of the namespaces of the modules of this package."""
_SCHEDULER = "mazurka.runtime.core.scheduler"
_ROOTS = ("live", "_live_as_main")


class FrameSnapshot(NamedTuple):
    """A frame, and its variables at some moment."""

    frame: FrameType
    instruction: int
    own: dict[str, Any]


class StackSnapshot(NamedTuple):
    """Where a thread stood at some moment, from the innermost function of the program outwards."""

    inside: FrameType | None
    """The function of Mazurka's that the program has called there."""
    frames: list[FrameSnapshot]
    turns: int
    """How many rounds of `while` statements it had begun."""


class Turn(NamedTuple):
    """The beginning of one more round of a `while` statement (`python.iteration.loops`)."""

    site: int
    turns: int
    """How many rounds of all its loops it had begun by then."""
    reads: int
    """How many reads there had been since it last wrote."""
    stack: StackSnapshot


class SpinHistory:
    """What a thread has read since it last wrote."""

    __slots__ = (
        *("base", "oldest", "oldest_watched", "polls", "reads", "stacks", "tick", "turn"),
        *("turns", "watched"),
    )

    def __init__(self) -> None:
        self.reads: list[tuple[Place, tuple[tuple[Shared, Hashable], ...]]] = []
        self.stacks: list[tuple[int, Place, StackSnapshot]] = []
        """Where it stood, with all its frames, each time it came back to a place."""
        self.base = 0
        """How many reads there had been at the last step of an iterator."""
        self.turns = 0
        """How many rounds of `while` statements it had begun at the last one."""
        self.turn: Turn | None = None
        self.oldest = NEVER
        """How many rounds had begun when the oldest iterator was made that has moved since."""
        self.watched: Any = None
        """Where it was when `python.iteration.loops` last looked what it is doing."""
        self.oldest_watched = NEVER
        self.tick = TICK
        self.polls = False

    @property
    def awaits_time(self) -> bool:
        """Whether the next round may differ because it is later."""
        return self.polls and self.tick > 0

    def clear(self) -> None:
        self.reads.clear()
        self.stacks.clear()
        self.base = 0
        self.turn = None

    def step(self, born: int) -> None:
        """Note that an iterator moves which was made after so many rounds of all loops."""
        self.base = len(self.reads)
        self.stacks.clear()
        self.oldest = min(self.oldest, born)
        self.oldest_watched = min(self.oldest_watched, born)

    def guard(self, operation: RealOperation) -> RealOperation:
        """Return the operation to stand before: the given one, or one that waits for a change."""
        site = _place(operation)
        for place, _ in self.reads[self.base :]:
            if place == site:
                break
        else:
            return operation
        if isinstance(operation, Spin):
            return operation
        stack = stack_of(sys._getframe(2), self.turns)
        for start, place, old in reversed(self.stacks):
            if place == site and is_same(old, stack, floats=not self.awaits_time):
                return self.come_round(start, operation)
        self.stacks.append((len(self.reads), site, stack))
        return operation

    def come_round(self, start: int, operation: RealOperation) -> RealOperation:
        """Return what a thread stands before that is where it was.  Whether what it read has
        changed since is for that operation to say, at the moment for which it is asked: others may
        have come first, or may not."""
        seen: dict[Shared, Hashable] = {}
        for _, touched in self.reads[start:]:
            for shared, state in touched:
                if seen.setdefault(shared, state) != state:
                    return operation  # it has changed in the meantime: the next round may differ
        seen.pop(dial.clock, None)  # whoever looks at it never waits here
        if not self.awaits_time:
            return Spin(operation, tuple(seen.items()))
        if isinstance(operation, ReadClock):
            operation.again = True
        return operation


class Spin(RealOperation):
    """Stands before the first operation of one more round, until something that it read changes."""

    __slots__ = ("operation", "seen")
    free = False
    writes = False

    def __init__(self, operation: RealOperation, seen: tuple[tuple[Shared, Hashable], ...]) -> None:
        self.operation = operation
        self.seen = seen

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.operation.kind

    @property
    def role(self) -> LifeRole:  # type: ignore[override]
        return self.operation.role and LifeRole.LOOK

    def ready(self) -> bool:
        if all(shared.state == state for shared, state in self.seen):
            return False
        return self.operation.free or self.operation.ready()

    def at(self, lookup: Lookup) -> Sequence[Touch] | None:
        if all(lookup(shared) == state for shared, state in self.seen):
            return None
        touches = self.operation.at(lookup)
        if touches is None:
            return None
        own = {shared for shared, _ in touches}
        return (*touches, *((shared, False) for shared, _ in self.seen if shared not in own))

    def waits_for(self, purpose: Purpose | None) -> str:
        names = ", ".join(str(shared) for shared, _ in self.seen)
        return f"for a change of {names}" if names else "for nothing that anybody could change"

    def holder(self) -> str | None:
        return self.operation.holder()

    def takes(self) -> Object | None:
        return self.operation.takes()

    def objects(self) -> tuple[Shared, ...]:
        return (*(shared for shared, _ in self.seen), *self.operation.objects())


def learn_modules() -> None:
    """Learn the namespaces of the runtime's modules, by which its own frames are known."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mazurka.runtime."):
            _OWN.add(id(module.__dict__))


def note_read(task: Task, operation: RealOperation) -> None:
    """Note an operation that writes nothing, which the thread is about to perform."""
    rounds = task.rounds
    if rounds is None:
        rounds = task.rounds = SpinHistory()
    elif isinstance(operation, Spin) or len(rounds.reads) > MEMORY:
        rounds.clear()
    touched = operation.at(_state_of) or ()
    reads = tuple([(shared, shared.state) for shared, _ in touched])
    rounds.reads.append((_place(operation), reads))


def _place(operation: RealOperation) -> Place:
    """Return where in the program an operation is; that of a watched access knows it itself."""
    performed = operation.operation if isinstance(operation, Spin) else operation
    if performed.site is not None:
        return performed.site
    frame = _user_frame(sys._getframe(3))
    return frame.f_code, frame.f_lasti


def _state_of(shared: Shared) -> Hashable:
    return shared.state


def _user_frame(frame: FrameType) -> FrameType:
    """Return the nearest frame that is not the scheduler's."""
    while id(frame.f_globals) in _OWN and frame.f_back is not None:
        frame = frame.f_back
    return frame


def stack_of(frame: FrameType, turns: int) -> StackSnapshot:
    inside: FrameType | None = None
    while id(frame.f_globals) in _OWN and frame.f_back is not None:
        inside, frame = frame, frame.f_back
    found: list[FrameSnapshot] = []
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name in _ROOTS and outer.f_globals["__name__"] == _SCHEDULER:
            break
        # A module's variables are not its thread's own; they are watched as shared ones.
        own = {} if outer.f_locals is outer.f_globals else read_variables(outer)
        found.append(FrameSnapshot(outer, outer.f_lasti, own))
        outer = outer.f_back
    return StackSnapshot(inside, found, turns)


def is_same(one: StackSnapshot, other: StackSnapshot, *, floats: bool = True) -> bool:
    """Whether a loop has brought a thread back to where it was, with the same variables; numbers
    that may be times need not be compared."""
    if len(one.frames) != len(other.frames) or (
        one.inside is not None and one.inside is other.inside
    ):
        return False
    for a, b in zip(one.frames, other.frames, strict=True):
        if a.frame is b.frame:
            if not is_in_loop(b.frame.f_code, b.instruction) or (
                one.turns == other.turns and _shows_rounds(b.frame)
            ):
                return False
            break
    return all(
        a.frame.f_code is b.frame.f_code
        and a.instruction == b.instruction
        and same_values(a.own, b.own, floats=floats)
        for a, b in zip(one.frames, other.frames, strict=True)
    )


def _shows_rounds(frame: FrameType) -> bool:
    """Whether it would have been seen if a loop of this function had begun one more round."""
    names = frame.f_code.co_names
    return MARK in names and BEGIN_ROUND in names


def same_values(one: dict[str, Any], other: dict[str, Any], *, floats: bool = True) -> bool:
    if one.keys() != other.keys():
        return False
    for name, value in one.items():
        now = other[name]
        if value is not now and not (
            type(value) is type(now)
            and is_one_of(type(value), _PLAIN)
            and (value == now or (type(value) is float and not floats))
        ):
            return False
    return True


def is_in_loop(code: CodeType, instruction: int) -> bool:
    """Whether an instruction can be executed again: whether a jump backwards spans it."""
    return any(first <= instruction <= last for first, last in _loops(code))


@lru_cache(maxsize=1024)
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Return where jumps backwards lead, and where they are."""
    return tuple(
        (jump.argval, jump.offset)
        for jump in dis.get_instructions(code)
        if "BACKWARD" in jump.opname and "NO_INTERRUPT" not in jump.opname
    )
