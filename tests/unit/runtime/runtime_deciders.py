"""Small deciders: follow a list, run on, and enumerate every schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.program.program import RealProgram
from mazurka.stateless.runs import Decider, Ended, Operation


class Follow(Decider):
    """Follows a list of thread numbers, and runs on without preemption after it."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self._schedule = list(schedule)
        self.taken: list[int] = []
        self.seen: list[tuple[int, str]] = []

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self._schedule:
            chosen = self._schedule.pop(0)
        else:
            chosen = last if last in enabled else enabled[0]
        operation = pending[chosen]
        assert operation is not None
        self.taken.append(chosen)
        self.seen.append((chosen, operation.kind))
        return chosen


class Enumerate(Decider):
    """Takes the next schedule in the order of their choices."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, int]] = []
        self._depth = 0
        self.trail: list[tuple[int, str]] = []

    def restart(self) -> bool:
        """Whether a schedule is left."""
        self._depth = 0
        self.trail = []
        while self._stack:
            index, width = self._stack.pop()
            if index + 1 < width:
                self._stack.append((index + 1, width))
                return True
        return False

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self._depth == len(self._stack):
            self._stack.append((0, len(enabled)))
        index, width = self._stack[self._depth]
        assert width == len(enabled), "the program is not deterministic"
        self._depth += 1
        chosen = enabled[index]
        operation = pending[chosen]
        assert operation is not None
        self.trail.append((chosen, operation.kind))
        return chosen


@dataclass
class Schedule:
    ended: Ended
    trail: list[tuple[int, str]]


def all_schedules(program: RealProgram) -> Iterator[Schedule]:
    """Every schedule of a program that is under control."""
    decider = Enumerate()
    while True:
        ended = program.run(decider)
        yield Schedule(ended, decider.trail)
        if not decider.restart():
            return


QUICK = ControlSettings(patience=1.0, pin=False)


def run_once(test: Callable[[], object], schedule: Sequence[int] = ()) -> Ended:
    return RealProgram(test, QUICK).run(Follow(schedule))


def explore_all(test: Callable[[], object]) -> list[Schedule]:
    with RealProgram(test, QUICK) as program:
        return program.supervise(lambda: list(all_schedules(program)))


def kinds(schedules: Sequence[Schedule]) -> set[str]:
    """The kinds of everything that was found."""
    return {failed.kind for schedule in schedules for failed in schedule.ended.failures}
