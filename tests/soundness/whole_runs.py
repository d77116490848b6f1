"""Brute force over the runs of small programs: every schedule, and which execution it is.

Nothing of the searches is used here.  An execution is known by its events, each with a clock that
says how many events of each thread happen before it; two schedules with equal clocks are one
execution.  The context bound of an execution is the fewest preemptions of its schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeAlias

from mazurka.stateless.runs import Decider, Ended, Operation, Runnable, Shared

Touches: TypeAlias = tuple[tuple[Hashable, bool], ...]
Log: TypeAlias = Sequence[tuple[int, Touches]]
Execution: TypeAlias = frozenset[tuple[int, tuple[tuple[int, int], ...]]]


class Logging(Runnable, Protocol):
    """A program that keeps a log of its last run and counts its preemptions."""

    log: list[tuple[int, Touches]]

    @property
    def preemptions(self) -> int: ...


class Resting(Logging, Protocol):
    """One that counts the timeouts that have ended while others could move, too."""

    early: int


class Following(Decider):
    """Takes a given prefix of choices, then the first thread that can go on."""

    def __init__(self, prefix: Sequence[int]) -> None:
        self.choices = list(prefix)
        self.able: list[list[int]] = []

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        depth = len(self.able)
        self.able.append(list(enabled))
        if depth == len(self.choices):
            self.choices.append(enabled[0])
        return self.choices[depth]


def every_schedule(
    program: Runnable, limit: int, seen: Callable[[tuple[int, ...], Ended], None]
) -> bool:
    """Run every schedule; False if there are more than `limit`."""
    prefix: list[int] | None = []
    runs = 0
    while prefix is not None:
        if runs == limit:
            return False
        decider = Following(prefix)
        end = program.run(decider)
        runs += 1
        seen(tuple(decider.choices), end)
        prefix = _following(decider)
    return True


def _following(decider: Following) -> list[int] | None:
    choices = decider.choices
    while choices:
        able = decider.able[len(choices) - 1]
        place = able.index(choices.pop()) + 1
        if place < len(able):
            return [*choices, able[place]]
    return None


class Clocks:
    """The clocks of runs that follow each other: what a run begins like the one before it, with the
    same events, has the same clocks."""

    def __init__(self) -> None:
        self.log: list[tuple[int, Touches]] = []
        self.clocks: list[dict[int, int]] = []
        self.events: list[tuple[int, tuple[tuple[int, int], ...]]] = []

    def execution(self, log: Log) -> Execution:
        """The events of a run with their clocks."""
        same = 0
        for event, before in zip(log, self.log, strict=False):
            if event != before:
                break
            same += 1
        del self.clocks[same:], self.events[same:]
        self.log = list(log)
        for position in range(same, len(log)):
            thread, touches = log[position]
            clock: dict[int, int] = {}
            for earlier in range(position):
                if log[earlier][0] == thread or _conflict(log[earlier][1], touches):
                    for number, count in self.clocks[earlier].items():
                        if count > clock.get(number, 0):
                            clock[number] = count
            clock[thread] = clock.get(thread, 0) + 1
            self.clocks.append(clock)
            self.events.append((thread, tuple(sorted(clock.items()))))
        return frozenset(self.events)


def execution(log: Log) -> Execution:
    """The events of one run with their clocks."""
    return Clocks().execution(log)


def _conflict(first: Touches, second: Touches) -> bool:
    for name, written in first:
        for other, also in second:
            if (written or also) and name == other:
                return True
    return False


def executions(program: Logging, limit: int) -> dict[Execution, int] | None:
    """All executions with their context bounds; None if there are too many schedules."""
    found: dict[Execution, int] = {}
    clocks = Clocks()

    def seen(schedule: tuple[int, ...], end: Ended) -> None:
        ran = clocks.execution(program.log)
        found[ran] = min(program.preemptions, found.get(ran, program.preemptions))

    return found if every_schedule(program, limit, seen) else None


def patient_executions(program: Resting, limit: int) -> dict[Execution, int] | None:
    """The executions of which some schedule has no early timeout, with the fewest preemptions of
    such a schedule; None if there are too many schedules."""
    found: dict[Execution, int] = {}
    clocks = Clocks()

    def seen(schedule: tuple[int, ...], end: Ended) -> None:
        if not program.early:
            ran = clocks.execution(program.log)
            found[ran] = min(program.preemptions, found.get(ran, program.preemptions))

    return found if every_schedule(program, limit, seen) else None


class Logged(Decider):
    """Any program, with the log of its last run taken down from what it asks."""

    def __init__(self, program: Runnable) -> None:
        self.program = program
        self.log: list[tuple[int, Touches]] = []
        self.preemptions = 0

    def run(self, decider: Decider) -> Ended:
        self.log, self.preemptions = [], 0
        self.decider = decider
        return self.program.run(self)

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        thread = self.decider.decide(pending, enabled, last)
        operation = pending[thread]
        assert operation is not None
        touches = operation.at(_now)
        assert touches is not None
        self.preemptions += thread != last and last in enabled
        self.log.append((thread, tuple((shared.name, written) for shared, written in touches)))
        return thread


def _now(shared: Shared) -> Hashable:
    return shared.state


class Watched:
    """A program that remembers the executions it has completed, in order."""

    def __init__(self, program: Logging) -> None:
        self.program = program
        self.completed: list[Execution] = []
        self.clocks = Clocks()

    def run(self, decider: Decider) -> Ended:
        end = self.program.run(decider)
        if not end.abandoned:
            self.completed.append(self.clocks.execution(self.program.log))
        return end
