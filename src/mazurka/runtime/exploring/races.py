"""Data races: conflicting accesses that synchronization does not order.

Vector clocks.  An operation on a lock, an event, a queue or a thread's life carries what the object
knows to the thread, and what the thread knows to the object where it changes it; accesses to data
carry nothing.  (The graph of paper 001 orders conflicting accesses, too, so that it shows none of
their races.)  Two accesses to one place, at least one of them a write, by threads of which neither
knows of the other's access, are a race, also where the test passes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from mazurka.runtime.core.operations import dial, present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import SourceLine, shown_path, site_of, sites
from mazurka.runtime.core.tasks import label_of
from mazurka.runtime.story.effects import data_access
from mazurka.stateless.runs import Decider, Ended, Failed, Operation, Runnable, Shared

Clock = dict[int, int]


@dataclass(frozen=True)
class LastAccess:
    """The last access of a thread to a place."""

    time: int
    site: SourceLine | None


class Clocks:
    """The vector clocks of one run, and the last accesses to each place."""

    def __init__(self) -> None:
        self._threads: dict[int, Clock] = {}
        self._objects: dict[object, Clock] = {}
        self._reads: dict[object, dict[int, LastAccess]] = {}
        self._writes: dict[object, dict[int, LastAccess]] = {}

    def of(self, thread: int) -> Clock:
        return self._threads.setdefault(thread, {thread: 1})

    def synchronize(self, thread: int, shared: Shared, written: bool) -> None:
        clock = self.of(thread)
        known = self._objects.setdefault(shared.name, {})
        _join(clock, known)
        if written:
            _join(known, clock)

    def tick(self, thread: int) -> None:
        self.of(thread)[thread] += 1

    def access(
        self, thread: int, place: object, written: bool, site: SourceLine | None
    ) -> tuple[int, LastAccess, bool] | None:
        """Note an access; return the one it races with: whose, and whether that was a write."""
        clock = self.of(thread)
        reads = self._reads.setdefault(place, {})
        writes = self._writes.setdefault(place, {})
        found: tuple[int, LastAccess, bool] | None = None
        for uses, wrote in ((writes, True), (reads, False)) if written else ((writes, True),):
            for other, use in uses.items():
                if other != thread and clock.get(other, 0) < use.time:
                    found = (other, use, wrote)
        (writes if written else reads)[thread] = LastAccess(clock[thread], site)
        return found


def _join(clock: Clock, other: Clock) -> None:
    for thread, time in other.items():
        if clock.get(thread, 0) < time:
            clock[thread] = time


class Detector(Decider):
    """A decider that passes questions on to another, and looks for races meanwhile."""

    def __init__(self, inner: Decider) -> None:
        self._inner = inner
        self._clocks = Clocks()
        self._sites: dict[int, SourceLine | None] = {}
        self.races: dict[tuple[object, ...], Failed] = {}

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self._sites[max(last, 0)] = site_of(sys._getframe(1))
        chosen = self._inner.decide(pending, enabled, last)
        operation = pending[chosen]
        assert operation is not None
        self._take(chosen, operation)
        return chosen

    def over(self, pending: Sequence[Operation | None]) -> None:
        self._inner.over(pending)

    def _take(self, thread: int, operation: Operation) -> None:
        clocks, site = self._clocks, self._sites.get(thread)
        access = data_access(operation)
        place = sites[access.site].text if access is not None else None
        touches = operation.at(present) or ()
        for shared, written in touches:
            if place is None:
                if shared is not dial.clock:  # that one looks after another means nothing
                    clocks.synchronize(thread, shared, written)
                continue
            raced = clocks.access(thread, shared.name, written, site)
            if raced is not None:
                self._report(thread, place, written, site, raced)
        clocks.tick(thread)

    def _report(
        self,
        thread: int,
        place: str,
        written: bool,
        site: SourceLine | None,
        raced: tuple[int, LastAccess, bool],
    ) -> None:
        other, use, wrote = raced
        one, two = _verb(written), _verb(wrote)
        there = f" at {shown_path(use.site.file)}:{use.site.line}" if use.site else ""
        key = (site, use.site, written, wrote)
        self.races[key] = Failed(
            kind="race",
            message=f"{_label(thread)} {one} {place}, {_label(other)} {two} it{there}, and nothing"
            " orders the two",
            thread=thread,
            file=site.file if site else None,
            line=site.line if site else None,
        )


def _verb(written: bool) -> str:
    return "writes" if written else "reads"


def _label(number: int) -> str:
    return label_of(session.current.tasks, number)


class RaceChecked:
    """A program whose races are failures."""

    def __init__(self, program: Runnable) -> None:
        self._program = program

    def run(self, decider: Decider) -> Ended:
        detector = Detector(decider)
        ended = self._program.run(detector)
        ended.failures.extend(detector.races.values())
        return ended
