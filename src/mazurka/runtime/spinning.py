"""Threads that go round a loop and wait for what others will write.

A thread makes no progress if it comes back to the same place, with the same stack and the same
local variables, having written nothing in between, and everything that it read still is as it
was: it would go the same round again.  It then stands before a `Spin`, which can go on when one
of the objects it read has changed.  If nobody is left to change them, this is a livelock.

What a thread keeps out of sight of its frames (the position of an iterator whose items are all
alike) is not compared.

A thread that polls the clock goes through time in leaps, each four times the last, until it writes
something: every deadline is reached in a few rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from types import CodeType, FrameType
from typing import Any, TypeAlias

from mazurka.runtime.operations import Step
from mazurka.runtime.tasks import Task
from mazurka.stateless.runs import Lookup, Role, Shared, Touch

TICK = 1e-6
LEAP = 4
MEMORY = 64
"""Rounds longer than this many reads are not recognised."""

Site: TypeAlias = tuple[CodeType, int] | int
Stack: TypeAlias = list[tuple[CodeType, int, dict[str, Any]]]
_PLAIN = frozenset({int, float, str, bytes, bool, type(None)})
_OWN: set[int] = set()
"""The identities of the namespaces of the modules of this package."""
_SCHEDULER = "mazurka.runtime.scheduler"
_ROOTS = ("live", "_live_as_main")


class Rounds:
    """What a thread has read since it last wrote."""

    __slots__ = ("polls", "reads", "stacks", "tick")

    def __init__(self) -> None:
        self.reads: list[tuple[Site, tuple[tuple[Shared, Hashable], ...]]] = []
        self.stacks: list[tuple[int, Site, Stack]] = []
        """Where it stood, with all its frames, each time it came back to a place."""
        self.tick = TICK
        self.polls = False

    def guard(self, operation: Step) -> Step:
        """The operation to stand before: the given one, or one that waits for a change."""
        site = _place(operation)
        for place, _ in self.reads:
            if place == site:
                break
        else:
            return operation
        stack = _stack(_user_frame(sys._getframe(2)))
        for start, place, old in reversed(self.stacks):
            if place == site and _same(old, stack):
                return self._come_round(start, operation)
        self.stacks.append((len(self.reads), site, stack))
        return operation

    def _come_round(self, start: int, operation: Step) -> Step:
        """The thread is where it was.  Whether what it read has changed since is for the operation
        to say, at the moment for which it is asked: others may have come first, or may not."""
        seen: dict[Shared, Hashable] = {}
        for _, touched in self.reads[start:]:
            for shared, state in touched:
                if seen.setdefault(shared, state) != state:
                    return operation  # it has changed in the meantime: the next round may differ
        return operation if self.polls else Spin(operation, tuple(seen.items()))


class Spin(Step):
    """Stands before the first operation of one more round, until something that it read changes."""

    __slots__ = ("operation", "seen")
    free = False
    writes = False

    def __init__(self, operation: Step, seen: tuple[tuple[Shared, Hashable], ...]) -> None:
        self.operation = operation
        self.seen = seen

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.operation.kind

    @property
    def role(self) -> Role:  # type: ignore[override]
        return self.operation.role and Role.LOOK

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

    def waits_for(self) -> str:
        names = ", ".join(str(shared) for shared, _ in self.seen)
        return f"for a change of {names}" if names else "for nothing that anybody could change"

    def holder(self) -> str | None:
        return self.operation.holder()


def learn_modules() -> None:
    """Know the modules of this package again by their namespaces."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mazurka.runtime."):
            _OWN.add(id(module.__dict__))


def note(task: Task, operation: Step) -> None:
    """The thread is about to perform an operation that writes nothing."""
    rounds = task.rounds
    if rounds is None:
        rounds = task.rounds = Rounds()
    elif isinstance(operation, Spin) or len(rounds.reads) > MEMORY:
        rounds.reads.clear()
        rounds.stacks.clear()
    touched = operation.at(_state_of) or ()
    reads = tuple([(shared, shared.state) for shared, _ in touched])
    rounds.reads.append((_place(operation), reads))


def _place(operation: Step) -> Site:
    """Where in the program an operation stands.  Those of watched accesses know it themselves."""
    performed = operation.operation if isinstance(operation, Spin) else operation
    site: int | None = getattr(performed, "site", None)
    if site is not None:
        return site
    frame = _user_frame(sys._getframe(3))
    return frame.f_code, frame.f_lasti


def _state_of(shared: Shared) -> Hashable:
    return shared.state


def _user_frame(frame: FrameType) -> FrameType:
    """The nearest frame that is not the scheduler's."""
    while id(frame.f_globals) in _OWN and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _stack(frame: FrameType | None) -> Stack:
    found: Stack = []
    while frame is not None:
        if frame.f_code.co_name in _ROOTS and frame.f_globals["__name__"] == _SCHEDULER:
            break
        # A module's variables are not its thread's own; they are watched as shared ones.
        own = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
        found.append((frame.f_code, frame.f_lasti, own))
        frame = frame.f_back
    return found


def _same(one: Stack, other: Stack) -> bool:
    return len(one) == len(other) and all(
        a[0] is b[0] and a[1] == b[1] and a[2].keys() == b[2].keys() and _same_values(a[2], b[2])
        for a, b in zip(one, other, strict=True)
    )


def _same_values(one: dict[str, Any], other: dict[str, Any]) -> bool:
    for name, value in one.items():
        now = other[name]
        if value is not now and not (
            type(value) is type(now) and type(value) in _PLAIN and value == now
        ):
            return False
    return True
