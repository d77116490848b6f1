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


def execution(log: Log) -> Execution:
    """The events of a run with their clocks."""
    clocks: list[dict[int, int]] = []
    counts: dict[int, int] = {}
    for position, (thread, touches) in enumerate(log):
        clock: dict[int, int] = {}
        for earlier in range(position):
            if log[earlier][0] == thread or _conflict(log[earlier][1], touches):
                for number, count in clocks[earlier].items():
                    clock[number] = max(clock.get(number, 0), count)
        counts[thread] = clock[thread] = counts.get(thread, 0) + 1
        clocks.append(clock)
    return frozenset(
        (thread, tuple(sorted(clock.items())))
        for (thread, _), clock in zip(log, clocks, strict=True)
    )


def _conflict(first: Touches, second: Touches) -> bool:
    return any(
        name == other and (written or also) for name, written in first for other, also in second
    )


def executions(program: Logging, limit: int) -> dict[Execution, int] | None:
    """All executions with their context bounds; None if there are too many schedules."""
    found: dict[Execution, int] = {}

    def seen(schedule: tuple[int, ...], end: Ended) -> None:
        ran = execution(program.log)
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

    def run(self, decider: Decider) -> Ended:
        end = self.program.run(decider)
        if not end.abandoned:
            self.completed.append(execution(self.program.log))
        return end
